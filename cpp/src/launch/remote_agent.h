// An agent on one host, as the command that has started it sees it.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/consoles.h"
#include "launch/signals.h"
#include "launch/worker_stream.h"

namespace tandem::launch {

// What stopped an agent, or what was to start it, that ended with `code` (255: ssh; 126, 127: there is no `tool`) and
// `said`, the last line of its stderr, which may be "".
std::string why_agent_failed(const std::string& host, bool here, int code, const std::string& said,
                             const std::string& tool);

class RemoteAgent {
 public:
  // Starts `command`, whose first word is found in PATH; `setup` is what it reads first. `here`: without ssh. `number`
  // tells agents apart. Throws Failure where no process can be started.
  RemoteAgent(int number, std::string host, bool here, const std::vector<std::string>& command, std::string setup,
              const Signals& signals, Consoles& consoles);
  ~RemoteAgent();
  RemoteAgent(const RemoteAgent&) = delete;
  RemoteAgent& operator=(const RemoteAgent&) = delete;

  const std::string& host() const { return host_; }
  bool running() const { return !code_; }
  int code() const { return code_.value_or(0); }
  // Whether it was ended, or its connection was: its ranks are lost, and it says nothing of how they ended.
  bool is_lost() const;
  // Whether it said by itself why it failed: agents do, ssh and shells do in words of their own.
  bool speaks_for_itself() const;
  // What stopped it where it does not, for the user.
  std::string why_it_failed(const std::string& tool) const;

  void send(int signal);
  // Its stdin ends, which ends it.
  void let_go();
  // ssh as well; the agent then ends by itself.
  void end();
  // What ignores that, or is stopped.
  void kill_now();

  void add_polled(std::vector<pollfd>* polled) const;
  // Passes on what there is, both ways.
  void serve();
  // Whether the process with that number was this one's, which has ended with `status`.
  bool take_end(pid_t pid, int status);

 private:
  void write_some();

  std::string host_;
  bool here_;
  pid_t pid_ = -1;
  std::optional<int> code_;
  Descriptor control_;
  std::string unsent_;
  std::unique_ptr<WorkerStream> out_, err_;
};

}  // namespace tandem::launch
