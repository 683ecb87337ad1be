// How long callers are willing to wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tandem::capi {

// At most 24 days: LibTorch and the system count some waits in 32 bits, and deadlines further off overflow the clock.
inline std::chrono::milliseconds to_wait(std::int64_t timeout_ms) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
  return std::chrono::milliseconds(std::clamp<std::int64_t>(timeout_ms, 0, kLongest));
}

}  // namespace tandem::capi
