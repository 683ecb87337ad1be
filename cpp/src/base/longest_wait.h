// How long a wait may be: LibTorch and the system count some in 32 bits of milliseconds, and clocks overflow further off.
#pragma once

#include <chrono>

namespace tandem {

inline constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 24);

}  // namespace tandem
