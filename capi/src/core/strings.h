// Lists of strings that callers give.
#pragma once

#include <string>
#include <vector>

#include "core/guard.h"
#include "utf8.h"

namespace tandem::capi {

// Throws Error (kInvalidArgument) naming `argument`, and the element where one is NULL.
inline std::vector<std::string> to_strings(const char* const* strings, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count != 0) not_null(strings, argument);
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) {
    if (!strings[i]) invalid(std::string("argument '") + argument + "'[" + std::to_string(i) + "] is NULL");
    list.emplace_back(strings[i]);
  }
  return list;
}

// For what is written where others read it.
inline void check_utf8(const std::vector<std::string>& strings, const char* argument) {
  for (std::size_t i = 0; i < strings.size(); ++i) {
    for (const char* at = strings[i].c_str(); *at;) {
      const int length = tandem_utf8_length(at);
      if (length == 0) invalid(std::string("argument '") + argument + "'[" + std::to_string(i) + "] is no UTF-8");
      at += length;
    }
  }
}

}  // namespace tandem::capi
