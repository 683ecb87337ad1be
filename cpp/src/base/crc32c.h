// CRC-32C (Castagnoli) and CRC-32 (IEEE, as in zip), by the processor's instructions where it has them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

// `before`: the checksum of what comes before, to go on from.
std::uint32_t crc32c(std::span<const std::uint8_t> data, std::uint32_t before = 0);

std::uint32_t crc32(std::span<const std::uint8_t> data, std::uint32_t before = 0);

// As TFRecord and Snappy's frames store it, so that a checksum of bytes that hold checksums is as good as any other.
std::uint32_t masked_crc32c(std::span<const std::uint8_t> data);
inline std::uint32_t masked_crc32c(std::string_view text) {
  return masked_crc32c({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace tandem
