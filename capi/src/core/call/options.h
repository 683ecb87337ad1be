// Options structs: struct_size first, growing at their end. Shared by the loader and the core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tandem/error.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// No struct of the ABI comes near it: a larger struct_size was never initialised.
inline constexpr std::size_t kLargestStruct = 4096;

// Where it is no size that such a struct can have, nothing behind struct_size can be trusted.
inline void check_struct_size(std::size_t size, const char* type) {
  if (size < sizeof(std::size_t) || size > kLargestStruct || size % alignof(std::size_t) != 0) {
    throw Error(ErrorCode::kInvalidArgument, std::string(type) + ".struct_size is " + std::to_string(size) +
                                                 ", which no such struct has: initialise it with its _INIT macro");
  }
}

// `given` over `defaults`, for a caller that was compiled with an older or a newer header. Reads struct_size bytes and
// no more. What a newer header knows and this library does not must be left at zero, or at TDM_UNCHANGED.
template <typename Options>
Options read_options(const Options* given, Options defaults, const char* type) {
  if (!given) return defaults;
  const std::size_t size = given->struct_size;
  check_struct_size(size, type);
  std::memcpy(&defaults, given, std::min(size, sizeof defaults));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof defaults; i < size; i += sizeof(std::int32_t)) {
    std::int32_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    if (word != 0 && word != TDM_UNCHANGED) {
      throw Error(ErrorCode::kInvalidArgument,
                  std::string(type) + " has a field set, at byte " + std::to_string(i) + " of " + std::to_string(size) +
                      ", that this version of Tandem does not know; leave it at zero, or install a newer libtandem");
    }
  }
  defaults.struct_size = sizeof defaults;
  return defaults;
}

// Fills a struct that the caller made with its _INIT macro, as far as the caller's header knows it; what only that
// knows stays as it is.
template <typename Struct>
void write_struct(Struct* out, Struct value, const char* type) {
  const std::size_t size = out->struct_size;
  check_struct_size(size, type);
  value.struct_size = size;
  std::memcpy(out, &value, std::min(size, sizeof value));
}

}  // namespace tandem::capi
