// What the doctor has the agents of all hosts do at once.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launch/doctor/hosts/session.h"
#include "launch/doctor/process.h"
#include "launch/hosts_plan.h"

namespace tandem::doctor {

class Conversation {
 public:
  using Take = std::function<void(std::size_t host, const nlohmann::json& answer)>;
  using Lost = std::function<void(std::size_t host, const std::string& why)>;

  // `lost` is called once for each host that takes part no longer, or never did.
  Conversation(Interruption& interruption, Lost lost) : interruption_(interruption), lost_(std::move(lost)) {}

  // An agent on each host, with these flags; `here`: which of them are this machine. `take` gets what each says first.
  void start(const launch::HostsPlan& plan, const std::vector<bool>& here, const std::vector<std::string>& agent_flags,
             double seconds, const Take& take);
  // Has each host that takes part do what `order` says (null: nothing) and hands its answer to `take`. Who has not
  // answered after so many seconds is lost; so is who answers with an error, or with what `take` makes no sense of (an
  // exception).
  void ask(const std::function<nlohmann::json(std::size_t)>& order, double seconds, const std::string& what,
           const Take& take);
  // Agents end with their stdin: the ports at which they listen are then free.
  void end();

 private:
  void collect(std::vector<bool> waits, double seconds, const std::string& why_not, const Take& take);
  void take_reply(std::size_t i, const nlohmann::json& reply, const Take& take);
  void lose(std::size_t i, const std::string& why);

  Interruption& interruption_;
  const Lost lost_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace tandem::doctor
