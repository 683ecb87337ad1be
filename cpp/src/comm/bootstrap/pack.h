// Strings of bytes as one string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/packed.h"
#include "tandem/error.h"

namespace tandem {

// Each after its length, 8 bytes, little-endian.
inline std::string pack(const std::vector<std::string>& parts) {
  Packer packed;
  for (const std::string& part : parts) (packed << std::uint64_t{part.size()}).raw(part);
  return std::move(packed).bytes();
}

// What pack() was given. Throws Error (kDataLoss) for anything else.
inline std::vector<std::string> unpack(std::string_view packed) {
  std::vector<std::string> parts;
  try {
    for (Unpacker rest(packed); !rest.at_end();) parts.emplace_back(rest.raw(rest.take<std::uint64_t>()));
  } catch (const Unpacker::Ended&) {
    throw Error(ErrorCode::kDataLoss,
                "what another rank wrote to the store is cut off or of another version of Tandem; start the same "
                "version on every rank, with a store that only they use");
  }
  return parts;
}

}  // namespace tandem
