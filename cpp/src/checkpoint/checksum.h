// The checksum of a checkpoint's bytes: CRC-32 as in zip, which Python's zlib has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/crc32c.h"

namespace tandem::checkpoint {

// `before`: the checksum of what comes before.
inline std::uint32_t checksum(const void* data, std::size_t size, std::uint32_t before = 0) {
  return crc32({static_cast<const std::uint8_t*>(data), size}, before);
}
inline std::uint32_t checksum(std::string_view text) {
  return checksum(text.data(), text.size());
}

}  // namespace tandem::checkpoint
