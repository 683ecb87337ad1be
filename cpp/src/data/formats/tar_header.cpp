#include "data/formats/tar_header.h"

#include <algorithm>
#include <charconv>

namespace tandem::formats {
namespace {

using recordio::Bytes;
using recordio::Damaged;

std::string text(Bytes field) {
  const auto end = std::find(field.begin(), field.end(), 0);
  return {field.begin(), end};
}

// Octal digits among spaces and zeros, or, as GNU has it for large ones, a set bit and 95 bits.
std::optional<std::uint64_t> number(Bytes field) {
  if (field[0] & 0x80) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const std::uint8_t byte = i == 0 ? field[0] & 0x7f : field[i];
      if (value >> 56 != 0) return {};
      value = value << 8 | byte;
    }
    return value;
  }
  std::uint64_t value = 0;
  bool digits = false;
  for (const std::uint8_t c : field) {
    if (c >= '0' && c <= '7') {
      if (value >> 61 != 0) return {};
      value = value << 3 | static_cast<std::uint64_t>(c - '0');
      digits = true;
    } else if (c != ' ' && c != 0) {
      return {};
    } else if (digits) {
      break;
    }
  }
  if (!digits) return {};
  return value;
}

// Of all bytes, those of the checksum itself as spaces.
std::uint32_t checksum(Bytes block) {
  std::uint32_t sum = 8 * ' ';
  for (std::size_t i = 0; i < kTarBlock; ++i) sum += i >= 148 && i < 156 ? 0 : block[i];
  return sum;
}

}  // namespace

bool is_tar(Bytes begin) {
  if (begin.size() < kTarBlock || begin[0] == 0) return false;
  return number(begin.subspan(148, 8)) == checksum(begin.first(kTarBlock));
}

std::optional<TarHeader> decode_tar_header(Bytes block) {
  if (std::ranges::all_of(block, [](std::uint8_t byte) { return byte == 0; })) return {};
  TarHeader header;
  header.checksum = checksum(block);
  if (number(block.subspan(148, 8)) != header.checksum) throw Damaged{"its header's checksum does not match"};
  const auto size = number(block.subspan(124, 12));
  if (!size) throw Damaged{"its size is no number"};
  header.size = *size;
  header.kind = static_cast<char>(block[156]);
  header.name = text(block.first(100));
  // POSIX keeps the folder apart; GNU's own format has other things there.
  if (text(block.subspan(257, 6)) == "ustar" && block[345] != 0) {
    header.name = text(block.subspan(345, 155)) + "/" + header.name;
  }
  return header;
}

// Lines of "LENGTH KEY=VALUE\n", where LENGTH is that of the whole line.
void apply_pax(Bytes content, std::optional<std::string>& name, std::optional<std::uint64_t>& size) {
  while (!content.empty()) {
    const char* const begin = reinterpret_cast<const char*>(content.data());
    std::size_t length = 0;
    const auto parsed = std::from_chars(begin, begin + content.size(), length);
    const auto at = static_cast<std::size_t>(parsed.ptr - begin);
    if (parsed.ec != std::errc() || length > content.size() || length < at + 3 || begin[at] != ' ' ||
        begin[length - 1] != '\n') {
      throw Damaged{"its pax header is no list of keys and values"};
    }
    const std::string line(begin + at + 1, begin + length - 1);
    const auto equals = line.find('=');
    if (equals == std::string::npos) throw Damaged{"its pax header is no list of keys and values"};
    const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "path") name = value;
    if (key == "size") {
      std::uint64_t number = 0;
      const auto whole = std::from_chars(value.data(), value.data() + value.size(), number);
      if (whole.ec != std::errc() || whole.ptr != value.data() + value.size()) throw Damaged{"its size is no number"};
      size = number;
    }
    if (key.starts_with("GNU.sparse.")) throw Damaged{"it is a sparse file, which is not supported: pack it without"};
    content = content.subspan(length);
  }
}

}  // namespace tandem::formats
