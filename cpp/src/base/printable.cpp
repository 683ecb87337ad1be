#include "base/printable.h"

#include <cstdint>

namespace tandem {
namespace {

// Bytes of the character that begins there, and which it is; 0: none does.
std::size_t character_at(std::string_view text, std::uint32_t* character) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    *character = first;
    return 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  *character = first & (0x7fu >> size);
  for (const char next : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0) != 0x80) return 0;
    *character = *character << 6 | (byte & 0x3fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = *character >= 0xd800 && *character <= 0xdfff;
  return *character >= kSmallest[size] && *character <= 0x10ffff && !is_surrogate ? size : 0;
}

bool is_shown(std::uint32_t character) {
  if (character < 0x20 || (character >= 0x7f && character <= 0x9f)) return false;
  const bool turns = (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
  return !turns && character != 0x2028 && character != 0x2029;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string shown;
  while (!text.empty() && shown.size() < most) {
    std::uint32_t character = 0;
    const std::size_t size = character_at(text, &character);
    if (size == 0 || !is_shown(character)) {
      shown.push_back('?');
    } else if (shown.size() + size <= most) {
      shown.append(text.substr(0, size));
    } else {
      break;
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return shown;
}

}  // namespace tandem
