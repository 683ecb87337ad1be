// Strings, and lists of them that callers give.
#pragma once

#include <string>
#include <vector>

#include "core/call/guard.h"
#include "utf8.h"

namespace tandem::capi {

inline bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

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
inline void check_utf8(const char* text, const std::string& argument) {
  while (*text) {
    const int length = tandem_utf8_length(text);
    if (length == 0) invalid("argument '" + argument + "' is no UTF-8");
    text += length;
  }
}

inline void check_utf8(const std::vector<std::string>& strings, const std::string& argument) {
  for (std::size_t i = 0; i < strings.size(); ++i) {
    check_utf8(strings[i].c_str(), argument + "[" + std::to_string(i) + "]");
  }
}

}  // namespace tandem::capi
