// Connections that were accepted and have not identified themselves yet.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "comm/sockets.h"

namespace tandem::net {

// Of one listener, TCP or local. Those that stay silent hold nobody up: they are read when they say something, and
// closed when they have not for a while, which is shorter when there are many. For one thread.
class Arrivals {
 public:
  // `listener` does not block, and is the caller's.
  explicit Arrivals(int listener) : listener_(listener) {}

  // Those from which there is something to read, or which closed; waits for at most `wait` for the first. They do not
  // block. Throws Error (kIo) when this process, or the system, has no descriptor left for another.
  std::vector<Descriptor> next(std::chrono::milliseconds wait);

 private:
  using Clock = std::chrono::steady_clock;
  struct Silent {
    Descriptor socket;
    Clock::time_point since;
  };

  void accept_all();

  const int listener_;
  std::deque<Silent> silent_;  // in the order of their coming
  bool full_ = false;          // there was no descriptor for the next one
};

}  // namespace tandem::net
