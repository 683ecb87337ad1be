#include "weights/pickle/utf8.h"

#include <cstdint>

namespace tandem::pickle {
namespace {

// Takes a character from the front of what is not empty; -1 where there is none.
std::int32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 4;
  if (more == 4 || text.size() <= more) return -1;
  std::uint32_t character = more == 0 ? first : first & (0x3fu >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if (byte(i) >> 6 != 2) return -1;
    character = character << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (character < kLeast[more] || character > 0x10ffff || character >> 11 == 0x1b) return -1;
  text.remove_prefix(more + 1);
  return static_cast<std::int32_t>(character);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (take_character(text) < 0) return false;
  }
  return true;
}

bool latin1_of(std::string_view text, std::string* bytes) {
  while (!text.empty()) {
    const std::int32_t character = take_character(text);
    if (character < 0 || character > 0xff) return false;
    if (bytes) bytes->push_back(static_cast<char>(character));
  }
  return true;
}

}  // namespace tandem::pickle
