// Strings of bytes as one string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/error.h"

namespace tandem {

// Each after its length, 8 bytes, little-endian.
inline std::string pack(const std::vector<std::string>& parts) {
  std::string packed;
  for (const std::string& part : parts) {
    for (int shift = 0; shift < 64; shift += 8) {
      packed += static_cast<char>(static_cast<std::uint64_t>(part.size()) >> shift & 0xff);
    }
    packed += part;
  }
  return packed;
}

// What pack() was given. Throws Error (kDataLoss) for anything else.
inline std::vector<std::string> unpack(std::string_view packed) {
  std::vector<std::string> parts;
  while (!packed.empty()) {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < 8 && i < packed.size(); ++i) {
      size |= static_cast<std::uint64_t>(static_cast<unsigned char>(packed[i])) << (8 * i);
    }
    if (packed.size() < 8 || size > packed.size() - 8) {
      throw Error(ErrorCode::kDataLoss,
                  "what another rank wrote to the store is cut off or of another version of Tandem; start the same "
                  "version on every rank, with a store that only they use");
    }
    parts.emplace_back(packed.substr(8, size));
    packed.remove_prefix(8 + size);
  }
  return parts;
}

}  // namespace tandem
