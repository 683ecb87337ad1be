// Numbers at places in bytes of files and messages: little-endian, but for those whose name says otherwise.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem {

static_assert(std::endian::native == std::endian::little, "files and messages are little-endian, as all hosts so far");

inline std::uint32_t load_u32(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline std::uint64_t load_u64(const std::uint8_t* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline std::uint32_t load_big_u32(const std::uint8_t* bytes) {
  return __builtin_bswap32(load_u32(bytes));
}

inline void store_u32(std::uint8_t* bytes, std::uint32_t value) {
  std::memcpy(bytes, &value, sizeof value);
}

inline void store_u64(std::uint8_t* bytes, std::uint64_t value) {
  std::memcpy(bytes, &value, sizeof value);
}

inline void append_u32(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  bytes.resize(bytes.size() + sizeof value);
  store_u32(bytes.data() + bytes.size() - sizeof value, value);
}

}  // namespace tandem
