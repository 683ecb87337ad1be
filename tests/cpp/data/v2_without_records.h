// RecordIO v2 with metadata that no writer writes.
#pragma once

#include <string>

#include "base/crc32c.h"
#include "cpp/data/temp_dir.h"
#include "data/recordio/v2_format.h"

namespace tandem::test {

// Whole, and with right checksums.
inline FileBytes v2_without_records(const std::string& metadata) {
  using namespace recordio::v2;
  const SyncMarker sync = {1, 2, 3};
  FileBytes text(metadata.begin(), metadata.end()), file;
  text.resize(padded(text.size()));
  const auto add = [&](const auto& part) { file.insert(file.end(), part.begin(), part.end()); };
  add(encode(FileHeader{sync, metadata.size(), crc32c(text)}));
  add(text);
  const std::uint64_t footer = file.size();
  add(encode(ChunkHeader{sync, ChunkType::kFooter, Compressor::kNone, 1, 0, 0, 0, 0, crc32c({})}));
  add(encode(Trailer{sync, footer, 0, 0}));
  return file;
}

// A list in a list in a list …
inline std::string nested_json(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace tandem::test
