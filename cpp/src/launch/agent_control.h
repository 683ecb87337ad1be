// What `tandem run` tells the agents that it has started on other machines, through their stdin: signals.
#pragma once

#include <string>
#include <vector>

namespace tandem::launch {

// The last line of an agent's stderr where it ended by itself, and not by a signal: its exit code says how.
inline constexpr const char* kEndOfAgent = "tandem-agent-ends";

// What says it.
std::string line_for_agents(int signal);
// Best effort: agents that have ended read nothing.
void send_to_agents(int fd, int signal);

// An agent's side.
class AgentControl {
 public:
  explicit AgentControl(int fd) : fd_(fd) {}
  // To poll for input; -1 after the end.
  int fd() const { return fd_; }
  // Signals that came; SIGTERM when whoever sends them is gone. Blocks where there is nothing to read.
  std::vector<int> read();

 private:
  int fd_;
  std::string rest_;  // of a line
};

}  // namespace tandem::launch
