#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <bit>

namespace tandem {

std::uint32_t crc32c(std::span<const std::uint8_t> data, std::uint32_t before) {
  std::uint32_t crc = ~before;
  while (!data.empty()) {  // the library takes int lengths and, for historical reasons, pointers to non-const
    const auto part = data.first(std::min<std::size_t>(data.size(), 1u << 30));
    crc = crc32_iscsi(const_cast<unsigned char*>(part.data()), static_cast<int>(part.size()), crc);
    data = data.subspan(part.size());
  }
  return ~crc;
}

std::uint32_t crc32(std::span<const std::uint8_t> data, std::uint32_t before) {
  return crc32_gzip_refl(before, data.data(), data.size());
}

std::uint32_t masked_crc32c(std::span<const std::uint8_t> data) {
  return std::rotr(crc32c(data), 15) + 0xa282ead8u;
}

}  // namespace tandem
