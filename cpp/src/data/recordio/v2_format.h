// RecordIO v2 as bytes; docs/recordio-v2.md is its definition, with the same names.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "data/recordio/bytes.h"
#include "tandem/recordio.h"

namespace tandem::recordio::v2 {

inline constexpr std::uint64_t kBlock = 64;  // every part of a file begins at a multiple of it
inline constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'T', 'R', 'I', 'O', '\r', '\n', 0x1a};
inline constexpr std::array<std::uint8_t, 8> kEndMagic = {0x89, 'T', 'R', 'E', 'N', 'D', '\n', 0x1a};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint64_t kMostMetadata = 64u << 20;
// A chunk's content, before compression; what a reader allocates at most for one.
inline constexpr std::uint64_t kMostContent = 4ull << 30;

using SyncMarker = std::array<std::uint8_t, 16>;

constexpr std::uint64_t padded(std::uint64_t bytes, std::uint64_t to = kBlock) {
  return (bytes + to - 1) / to * to;
}

struct FileHeader {
  SyncMarker sync;
  std::uint64_t metadata_bytes;
  std::uint32_t metadata_crc;  // of the padding too
};

enum class ChunkType : std::uint8_t { kRecords = 1, kFooter = 2 };

struct ChunkHeader {
  SyncMarker sync;
  ChunkType type;
  Compressor codec;         // kNone or kZstd
  std::uint32_t alignment;  // of records: 1, 2, 4 … 64
  std::uint64_t first_record;
  std::uint64_t records;
  std::uint64_t content_bytes;  // before compression
  std::uint64_t stored_bytes;
  std::uint32_t stored_crc;  // of the padding too

  std::uint64_t whole_bytes() const { return kBlock + padded(stored_bytes); }
};

struct FooterEntry {
  std::uint64_t offset, records, content_bytes, stored_bytes;
};
inline constexpr std::uint64_t kFooterEntryBytes = 32;

struct Trailer {
  SyncMarker sync;
  std::uint64_t footer_offset;
  std::uint64_t records;
  std::uint64_t chunks;
};

using Block = std::array<std::uint8_t, kBlock>;
Block encode(const FileHeader& header);
Block encode(const ChunkHeader& header);
Block encode(const Trailer& trailer);

// `block` has 64 bytes. Throw Damaged with what is wrong.
FileHeader decode_file_header(Bytes block);
ChunkHeader decode_chunk_header(Bytes block);
Trailer decode_trailer(Bytes block);

// Where records lie in a chunk's content: a table of u64, the ends of records, comes first; each record begins at the
// next multiple of the alignment.
class RecordTable {
 public:
  RecordTable() = default;
  // Throws Damaged unless the records fill the content in order.
  RecordTable(Bytes content, std::uint64_t records, std::uint32_t alignment);
  // Nothing where the table is no more what it was: a map follows the file.
  std::optional<Bytes> find(std::uint64_t i) const {
    const std::uint64_t begin = begin_after(i == 0 ? data_ : load_u64(content_.data() + 8 * (i - 1)));
    const std::uint64_t end = load_u64(content_.data() + 8 * i);
    if (begin < data_ || end < begin || end > content_.size()) return std::nullopt;
    return content_.subspan(begin, end - begin);
  }
  // Throws Damaged there.
  Bytes operator[](std::uint64_t i) const {
    if (const auto found = find(i)) return *found;
    throw Damaged{"its table of records has changed"};
  }
  Bytes content() const { return content_; }

 private:
  // As padded(), without a division for every record.
  std::uint64_t begin_after(std::uint64_t end) const {
    const std::uint64_t up = alignment_ - 1;
    return (end + up) & ~up;
  }

  Bytes content_;
  std::uint64_t data_ = 0;  // where the table ends
  std::uint32_t alignment_ = 1;
};

// A chunk in `file` at `offset`, whole and with checksums that are right. Throws Damaged.
ChunkHeader check_chunk(Bytes file, std::uint64_t offset);
// Its content: stored bytes themselves, or decompressed into `memory`.
Bytes chunk_content(Bytes file, std::uint64_t offset, const ChunkHeader& header, Buffer& memory);

std::vector<std::uint8_t> zstd_compress(Bytes content, int level);

// Throws Error(kInvalidArgument) for a schema that is no JSON, or nested so deeply that it would not be read, and for
// text that is not UTF-8.
std::string encode_metadata(const RecordIOMetadata& metadata);
RecordIOMetadata decode_metadata(Bytes text);  // throws Damaged

}  // namespace tandem::recordio::v2
