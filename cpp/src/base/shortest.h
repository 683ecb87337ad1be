// Numbers in messages as a program writes them: 0.1, not 0.10000000000000001.
#pragma once

#include <charconv>
#include <string>

namespace tandem {

// The shortest text that reads back as the same number.
inline std::string shortest(double value) {
  char text[32];  // the longest one has 24
  const auto written = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, written.ptr);
}

}  // namespace tandem
