// What may come while an agent waits for others, before it has workers.
#pragma once

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/descriptor.h"
#include "launch/failure.h"
#include "launch/options.h"
#include "launch/process_tree.h"
#include "launch/signals.h"

namespace tandem::launch {

// Signals that end the launch, and the end of its front process: wait() throws Failure for either.
class Interruptions {
 public:
  Interruptions(const LaunchOptions& options, const Signals& signals, const Descriptor& lifeline)
      : options_(options), signal_fd_(signals.open()), lifeline_(lifeline) {}

  // Until something is to be read or written there, or until `until`.
  void wait(std::vector<pollfd> polled, std::chrono::steady_clock::time_point until) {
    polled.push_back({signal_fd_.get(), POLLIN, 0});
    polled.push_back({lifeline_.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    poll(polled.data(), polled.size(),
         static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60000)));
    if (polled.back().revents) throw Failure("the launcher's front process is gone", 128 + SIGKILL);
    for (const int signal : Signals::read(signal_fd_.get())) {
      if (std::ranges::find(options_.ending_signals, signal) == options_.ending_signals.end()) continue;
      throw Failure("ended by " + signal_name(signal) + " while it waited for other nodes", 128 + signal);
    }
  }

 private:
  const LaunchOptions& options_;
  Descriptor signal_fd_;
  const Descriptor& lifeline_;
};

}  // namespace tandem::launch
