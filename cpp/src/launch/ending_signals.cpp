#include "launch/ending_signals.h"

#include <signal.h>

#include <algorithm>

namespace tandem::launch {
namespace {

// One that went to all processes of the launch comes once more through a parent.
constexpr std::chrono::milliseconds kOneSignal{300};

}  // namespace

EndingSignals::Meaning EndingSignals::on(int signal, std::chrono::steady_clock::time_point now) {
  if (signal == SIGCHLD) return Meaning::kNone;
  if (std::ranges::find(ending_, signal) == ending_.end()) return Meaning::kPassOn;
  if (first_ == 0) {
    first_ = signal;
    first_at_ = now;
    return Meaning::kEnds;
  }
  return signal == first_ && now - first_at_ < kOneSignal ? Meaning::kNone : Meaning::kEndsNow;
}

}  // namespace tandem::launch
