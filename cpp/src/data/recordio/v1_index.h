// Where a v1 file's chunks are: found by a walk over their headers, or in FILE.idx (docs/data.md has its layout).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/data_file.h"
#include "data/recordio/v1_format.h"

namespace tandem::recordio {

struct V1Chunk {
  std::uint64_t offset;  // of the header
  std::int64_t first_record;
  std::uint32_t stored_size;
  std::uint32_t records;
  std::uint32_t checksum;
  Compressor compressor;

  std::uint64_t end() const { return offset + kHeaderBytes + stored_size; }
};

struct V1Index {
  RecordIODialect dialect = RecordIODialect::kOriginal;
  std::vector<V1Chunk> chunks;

  std::int64_t records() const { return chunks.empty() ? 0 : chunks.back().first_record + chunks.back().records; }
};

// Of the file's first chunk. Throws Error(kDataLoss) where it is none.
RecordIODialect find_dialect(DataFile& file);

// Throws Error naming file and chunk.
V1Index walk_chunks(DataFile& file, RecordIODialect dialect);

// What the sidecar says, once it fits the file; none where it is missing, stale, damaged, or for another dialect.
std::optional<V1Index> load_index(DataFile& file, std::optional<RecordIODialect> dialect);
// Whether a file of this host is an index, of whichever file.
bool is_index_file(const std::string& path);
// Throws Error(kIo), also where a file that is no index has its name.
void save_index(DataFile& file, const V1Index& index);

// load_index(), or walk_chunks() and then, where it is worth it and can be done, save_index().
V1Index find_chunks(DataFile& file, const RecordIOReaderOptions& options);

// The header as the index has it. Throws Damaged where the file has another one.
void check_header(DataFile& file, const V1Chunk& chunk, RecordIODialect dialect);

// Throws Error(kDataLoss) that names file, chunk, place and remedy.
[[noreturn]] void throw_damaged_chunk(const std::string& file, std::uint64_t number, std::uint64_t offset,
                                      const std::string& reason);

}  // namespace tandem::recordio
