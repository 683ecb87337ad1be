// Lists of numbers that callers give.
#pragma once

#include <vector>

#include "core/call/guard.h"

namespace tandem::capi {

// Throws Error (kInvalidArgument) naming `argument`.
template <typename Number>
std::vector<Number> to_numbers(const Number* numbers, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count > 0) not_null(numbers, argument);
  return {numbers, numbers + count};
}

}  // namespace tandem::capi
