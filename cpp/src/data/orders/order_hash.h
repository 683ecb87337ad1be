// What tells orders of different contents apart by their names.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/mix.h"

namespace tandem {

template <typename Number>
std::string order_hash(const std::vector<Number>& numbers) {
  static_assert(sizeof(Number) == sizeof(std::uint64_t));
  std::uint64_t hash = 0;
  for (const Number number : numbers) hash = mix(hash, __builtin_bit_cast(std::uint64_t, number));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace tandem
