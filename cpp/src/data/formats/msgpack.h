// What records that are made of several parts are written as: a map of MessagePack. Source: msgpack.org, spec.md.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/recordio/bytes.h"

namespace tandem::formats {

// Appends to `bytes`. A map's head is followed by `count` keys and values, an array's by `count` elements.
class MsgpackWriter {
 public:
  explicit MsgpackWriter(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  void map_head(std::uint32_t count) {
    if (count < 16) {
      bytes_.push_back(static_cast<std::uint8_t>(0x80 | count));
    } else {
      head(0xdf, count, 4);
    }
  }
  void array_head(std::uint32_t count) {
    if (count < 16) {
      bytes_.push_back(static_cast<std::uint8_t>(0x90 | count));
    } else {
      head(0xdd, count, 4);
    }
  }
  void text(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    if (size < 32) {
      bytes_.push_back(static_cast<std::uint8_t>(0xa0 | size));
    } else {
      size < 256 ? head(0xd9, size, 1) : head(0xdb, size, 4);
    }
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void binary(recordio::Bytes binary) {
    const auto size = static_cast<std::uint32_t>(binary.size());
    size < 256 ? head(0xc4, size, 1) : head(0xc6, size, 4);
    bytes_.insert(bytes_.end(), binary.begin(), binary.end());
  }
  void number(std::uint64_t value) {
    if (value < 128) {
      bytes_.push_back(static_cast<std::uint8_t>(value));
    } else {
      head(0xcf, value, 8);
    }
  }
  void real(double value) { head(0xcb, std::bit_cast<std::uint64_t>(value), 8); }

 private:
  void head(std::uint8_t type, std::uint64_t value, int width) {
    bytes_.push_back(type);
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
  }

  std::vector<std::uint8_t>& bytes_;
};

}  // namespace tandem::formats
