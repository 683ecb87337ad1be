// A doctor's agent on one host, as the doctor that has started it sees it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launch/doctor/process.h"
#include "launch/host_list.h"
#include "launch/hosts_plan.h"

namespace tandem::doctor {

class Session {
 public:
  // By ssh, as `tandem run -H` starts its agents, or without where the host is `here`. Throws launch::Failure where no
  // process can be started.
  Session(const launch::HostsPlan& plan, const launch::Host& host, bool here,
          const std::vector<std::string>& agent_flags, const launch::Signals& signals);

  // Why it takes no part; "" while it does.
  const std::string& failure() const { return failure_; }
  void fail(const std::string& why);

  void order(const nlohmann::json& order);
  // The answer to the last order, once. Notices that the agent has ended, too.
  std::optional<nlohmann::json> take_answer();
  void serve() { process_->serve(); }
  void add_polled(std::vector<pollfd>* polled) const { process_->add_polled(polled); }
  // Its stdin ends, and so does the agent, after a moment.
  void end();
  bool ended() const { return process_->ended(); }

 private:
  launch::Host host_;
  bool here_;
  std::string tool_;
  std::string failure_;
  std::unique_ptr<Process> process_;
};

}  // namespace tandem::doctor
