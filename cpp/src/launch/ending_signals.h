// What a signal means to a command whose agents run elsewhere: to pass on, to end them, or not to wait for them any
// more.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

namespace tandem::launch {

class EndingSignals {
 public:
  enum class Meaning {
    kNone,     // that of a child's end, or one that has come already
    kPassOn,   // to the agents, and no more
    kEnds,     // the first that ends the launch: to pass on
    kEndsNow,  // a second one: to pass on, too
  };

  // `ending`: those that end the launch.
  explicit EndingSignals(std::vector<int> ending) : ending_(std::move(ending)) {}
  Meaning on(int signal, std::chrono::steady_clock::time_point now);
  // The first that ended it, or 0.
  int first() const { return first_; }

 private:
  std::vector<int> ending_;
  int first_ = 0;
  std::chrono::steady_clock::time_point first_at_;
};

}  // namespace tandem::launch
