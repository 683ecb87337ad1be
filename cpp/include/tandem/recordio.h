// RecordIO: files of records, which are byte strings, in checksummed chunks.
//
// Version 1 is what github.com/wangkuiyi/recordio writes: a row of chunks without header or footer. A chunk is five
// little-endian u32 (magic 0x01020304, CRC-32 of the stored payload, compressor, stored size, number of records) and
// the payload: for each record a u32 length and its bytes, compressed as a whole. An empty file holds no records.
//
// Version 2 is Tandem's own, docs/recordio-v2.md: every byte under a CRC-32C, an index in a footer, records on
// multiples of 64 bytes, a schema and metadata, and chunks that are found again behind damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// How a chunk's payload is stored; the numbers are those of the file.
enum class Compressor : std::uint32_t {
  kNone = 0,
  kSnappy = 1,  // Snappy's framing format, blocks of 64 KiB; version 1
  kGzip = 2,    // version 1
  kZstd = 3,    // version 2
};

// What a file of version 2 says about its records; both may be empty.
struct RecordIOMetadata {
  std::string schema;                       // JSON
  std::map<std::string, std::string> user;  // UTF-8
};

struct RecordIOWriterOptions {
  Compressor compressor = Compressor::kNone;
  // Payload of a chunk before compression, 1 to 1 GiB. A larger record gets a chunk of its own.
  std::uint64_t chunk_bytes = 32u << 20;
  int version = 1;
  // Of version 2: where a record begins, a multiple of 1, 2, 4 … or 64 bytes; how hard zstd tries, 1 to 19.
  std::uint32_t alignment = 64;
  int level = 3;
  RecordIOMetadata metadata = {};
};

// Writes one file. Bytes go to a temporary name beside `path`; close() syncs it and gives it its name, so that the file
// is either whole or not there. A writer that is destroyed without close() leaves nothing.
//
// Errors: Error(kIo), and kNotFound where its folder is missing, naming the file and the system's error;
// kInvalidArgument for options out of range, or that the version does not have, and for a record that the format cannot
// hold (4 GiB); kClosed after close().
// Any thread may write; records lie in the order of the calls.
class TANDEM_API RecordIOWriter {
 public:
  explicit RecordIOWriter(const std::string& path, const RecordIOWriterOptions& options = {});
  ~RecordIOWriter();
  RecordIOWriter(const RecordIOWriter&) = delete;
  RecordIOWriter& operator=(const RecordIOWriter&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::span<const std::uint8_t> record) { write(record.data(), record.size()); }
  void close();
  std::int64_t written() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whose version 1 a file is: three programs order its chunks' headers in two ways, with two checksums. All of them are
// read, and the original's is written.
enum class RecordIODialect : std::uint32_t {
  kOriginal = 0,    // github.com/wangkuiyi/recordio
  kPaddle = 1,      // Paddle fluid: records, CRC-32, compressor (0 none, 1 Snappy's framing format), size
  kPyRecordIO = 2,  // pyrecordio: records, CRC-32C, compressor (1 none, 2 one raw Snappy block, 3 gzip), size
};

struct RecordIOReaderOptions {
  // Unset: where the header of the first chunk leaves it open, its checksum tells.
  std::optional<RecordIODialect> dialect;
  // Whether FILE.idx is used (write_recordio_index()), and written where there are so many chunks that it saves time.
  bool index = true;
  // Memory that a compressed chunk may take once it is decompressed; a larger one is Error(kUnsupported). 128 KiB of
  // zstd or 4 MiB of gzip can become 4 GiB, so raise this for files of whom you trust only.
  std::uint64_t most_chunk_bytes = 1u << 30;
};

// Where a chunk lies, as its header says.
struct RecordIOChunk {
  std::uint64_t offset;  // of the header, in bytes from the file's start
  std::uint64_t stored_size;
  Compressor compressor;
  std::int64_t first_record;
  std::int64_t records;
};

// Reads one file of either version through mmap. Opening reads the chunks' headers (version 1) or the footer (version
// 2) only; a chunk's checksum is verified, its payload decompressed and its records indexed when one of them is first
// asked for. Records of uncompressed chunks are views of the mapped file; decompressed chunks stay in memory for the
// reader's life.
//
// Errors: Error(kNotFound) for a missing file, kIo, kOutOfRange for an index, and kDataLoss naming the file, the chunk,
// its byte offset and what is wrong.
// Thread-safe. Where the file is cut off while it is mapped, its bytes read as zeros from there on, and asking for a
// record that has some of them, also once more, is Error(kDataLoss). For that a handler of SIGBUS is installed, which
// leaves all other faults to the one before it.
class TANDEM_API RecordIOReader {
 public:
  explicit RecordIOReader(const std::string& path, const RecordIOReaderOptions& options = {});
  ~RecordIOReader();
  RecordIOReader(const RecordIOReader&) = delete;
  RecordIOReader& operator=(const RecordIOReader&) = delete;

  std::int64_t size() const;
  // Record `index`; valid as long as the reader. What a file that is cut off later has lost reads as zeros in a view.
  std::span<const std::uint8_t> operator[](std::int64_t index);
  // Copies record `index` into `destination`, which has its size. A copy is whole, or Error(kDataLoss), also where the
  // file is cut off meanwhile.
  void copy(std::int64_t index, std::span<std::uint8_t> destination);

  const std::string& path() const;
  int version() const;
  RecordIODialect dialect() const;           // of version 1
  const RecordIOMetadata& metadata() const;  // empty in version 1
  std::size_t chunk_count() const;
  RecordIOChunk chunk(std::size_t number) const;
  // Verifies one chunk's checksum and layout; returns the bytes of its payload before compression.
  std::uint64_t verify(std::size_t number);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes FILE.idx beside a file of version 1: where its chunks are, so that opening it need not visit each of them. A
// reader takes it as long as it fits the file's size, time of writing and chunk headers, each of which it checks again
// before it uses the chunk; else it looks for itself. A file of version 2 has its index inside: nothing is written.
// Returns the number of chunks. Errors: those of RecordIOReader; Error(kIo) where it cannot be written, or another
// program's file has its name.
TANDEM_API std::size_t write_recordio_index(const std::string& path, const RecordIOReaderOptions& options = {});

// Puts the chunks of files of one version and dialect into a new one, each checked but as it is stored. Of schema and
// metadata stays what all files agree on. Calls `merged`, if there is one, after each file. Returns the number of
// records. A compressed chunk may take `most_chunk_bytes` once it is decompressed, as RecordIOReaderOptions has it.
// Errors: those of RecordIOReader; Error(kInvalidArgument) for no files, or files that differ in version or dialect;
// kIo.
TANDEM_API std::int64_t merge_recordio(const std::vector<std::string>& sources, const std::string& target,
                                       const std::function<void()>& merged = {},
                                       std::uint64_t most_chunk_bytes = 1u << 30);

// What repair_recordio() kept, and what is lost: descriptions that name chunk or bytes.
struct RecordIORepair {
  std::int64_t records = 0;
  std::size_t chunks = 0;
  std::vector<std::string> lost;
};

// Copies every chunk of a damaged or truncated file that is whole into a new one of the same version. Behind damage
// chunks are looked for by their markers. `source`, a file of this host, stays as it is; `target` appears when it is
// whole. Errors: kDataLoss where no chunk is whole, or the file is no RecordIO; kInvalidArgument where both are one
// file, or `source` is a URL; kUnsupported naming the chunk's place where a compressed one would take more than
// `most_chunk_bytes` once it is decompressed, as RecordIOReaderOptions has it; kIo.
TANDEM_API RecordIORepair repair_recordio(const std::string& source, const std::string& target,
                                          std::uint64_t most_chunk_bytes = 1u << 30);

}  // namespace tandem
