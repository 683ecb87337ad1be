// Writes a v2 file from whole chunks.
#pragma once

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "data/recordio/v2_format.h"

namespace tandem::recordio::v2 {

// `file` outlives it. Throws Error(kIo) naming the file.
class ChunkWriter {
 public:
  // `metadata` as encode_metadata() gives it.
  ChunkWriter(AtomicFile& file, std::string metadata) : file_(file), metadata_(std::move(metadata)) {}

  // `stored` is what the file has of the chunk's content, compressed or not.
  void append(std::uint64_t records, Compressor codec, std::uint32_t alignment, std::uint64_t content_bytes,
              Bytes stored);
  // Footer and trailer. To be called once, at the end.
  void finish();

 private:
  void begin(Bytes first);
  void put(Bytes bytes);
  void put_chunk(ChunkHeader header, Bytes stored);

  AtomicFile& file_;
  std::string metadata_;
  bool begun_ = false;
  SyncMarker sync_{};
  std::uint64_t offset_ = 0;
  std::uint64_t records_ = 0;
  std::vector<FooterEntry> entries_;
};

}  // namespace tandem::recordio::v2
