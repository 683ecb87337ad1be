// RecordIO v1's chunk header and the codecs of its payload.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/recordio.h"

namespace tandem::recordio {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so are all hosts so far");

inline constexpr std::uint32_t kMagic = 0x01020304;
inline constexpr std::size_t kHeaderBytes = 20;
// A payload's size is a u32, compressed or not; the margin is for codecs that make incompressible data longer.
inline constexpr std::uint64_t kMaxPayload = 0xffffffffu - (16u << 20);

using Bytes = std::span<const std::uint8_t>;

inline std::uint32_t load_u32(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline void store_u32(std::uint8_t* bytes, std::uint32_t value) {
  std::memcpy(bytes, &value, sizeof value);
}

inline void append_u32(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  bytes.resize(bytes.size() + sizeof value);
  store_u32(bytes.data() + bytes.size() - sizeof value, value);
}

// CRC-32 (IEEE), as in zip.
std::uint32_t crc32(Bytes data);

// A block of memory that is not zeroed first.
struct Buffer {
  std::unique_ptr<std::uint8_t[]> data;
  std::size_t size = 0;
};

std::vector<std::uint8_t> snappy_compress(Bytes payload);
std::vector<std::uint8_t> gzip_compress(Bytes payload);

// What is wrong with compressed data; the reader adds file and chunk.
struct Damaged {
  std::string reason;
};

// Throw Damaged. Neither allocates more than the data's own declarations add up to, and those are checked against what
// data of that size can expand to.
Buffer snappy_decompress(Bytes stored);
Buffer gzip_decompress(Bytes stored);

// The first record begins at its length, at payload[0]; offsets[i] is where record i's bytes begin, offsets[count] is
// payload.size() + 4, so that record i ends at offsets[i + 1] - 4. Throws Damaged unless `count` records fill the
// payload exactly.
std::vector<std::uint32_t> index_records(Bytes payload, std::uint32_t count);

}  // namespace tandem::recordio
