#include "launch/agent_control.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/descriptor.h"

namespace tandem::launch {
namespace {

constexpr std::size_t kLongestNumber = 16;

}  // namespace

std::string line_for_agents(int signal) { return std::to_string(signal) + "\n"; }

void send_to_agents(int fd, int signal) {
  const std::string line = line_for_agents(signal);
  write_all(fd, line.data(), line.size());
}

std::vector<int> AgentControl::read() {
  char buffer[256];
  const ssize_t size = ::read(fd_, buffer, sizeof buffer);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (size <= 0) {
    fd_ = -1;
    return {SIGTERM};
  }
  std::vector<int> signals;
  for (const char c : std::string(buffer, static_cast<std::size_t>(size))) {
    if (c != '\n') {
      if (rest_.size() < kLongestNumber) rest_ += c;
      continue;
    }
    const int signal = std::atoi(rest_.c_str());
    if (signal > 0 && signal < NSIG) signals.push_back(signal);
    rest_.clear();
  }
  return signals;
}

}  // namespace tandem::launch
