// Options structs: struct_size first, growing at their end.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "core/guard.h"

namespace tandem::capi {

// `given` over `defaults`, for a caller that was compiled with an older or a newer header. What a newer one knows and
// this library does not must be left at zero.
template <typename Options>
Options read_options(const Options* given, Options defaults, const char* type) {
  if (!given) return defaults;
  const std::size_t size = given->struct_size;
  if (size < sizeof(std::size_t)) {
    invalid(std::string(type) + ".struct_size is " + std::to_string(size) + ": initialise it with its _INIT macro");
  }
  std::memcpy(&defaults, given, std::min(size, sizeof defaults));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof defaults; i < size; ++i) {
    if (bytes[i] != 0) {
      invalid(std::string(type) + " has a field set that this version of Tandem does not know; use a newer library");
    }
  }
  defaults.struct_size = sizeof defaults;
  return defaults;
}

// Fills a struct that the caller made with its _INIT macro, as far as the caller's header knows it.
template <typename Struct>
void write_struct(Struct* out, Struct value, const char* type) {
  const std::size_t size = not_null(out, "out")->struct_size;
  if (size < sizeof(std::size_t)) {
    invalid(std::string(type) + ".struct_size is " + std::to_string(size) + ": initialise it with its _INIT macro");
  }
  value.struct_size = size;
  std::memcpy(out, &value, std::min(size, sizeof value));
}

}  // namespace tandem::capi
