// How deep JSON is nested, counted before anything is made of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tandem {

// Values of nlohmann's library are parsed and freed in loops, but written and compared by functions that call
// themselves: text that anyone may have made is refused above this first.
inline constexpr std::size_t kDeepestJson = 256;

// Of arrays and objects within each other: 1 for "[]". At least that of the text's values; of what is no JSON,
// anything.
inline std::size_t json_depth(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace tandem
