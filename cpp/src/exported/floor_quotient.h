// Python's division of integers.
#pragma once

#include <cstdint>

namespace tandem::exported {

// Rounded down. The divisor is neither 0 nor, of the least integer, -1.
inline std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace tandem::exported
