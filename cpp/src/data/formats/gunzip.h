// gzip's format, all of it or its beginning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/recordio/bytes.h"

namespace tandem::formats {

inline bool is_gzip(recordio::Bytes begin) {
  return begin.size() >= 2 && begin[0] == 0x1f && begin[1] == 0x8b;
}

// Decompresses members one after another until `most` bytes are there or the input ends. `problem` is what is wrong
// then, "" for nothing; what came before it is returned all the same. Memory grows with what comes out.
std::vector<std::uint8_t> gunzip(recordio::Bytes compressed, std::uint64_t most, std::string& problem);

}  // namespace tandem::formats
