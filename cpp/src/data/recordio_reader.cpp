#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>

#include "data/mapped_file.h"
#include "data/recordio_dialect.h"
#include "data/recordio_format.h"
#include "tandem/error.h"
#include "tandem/recordio.h"

namespace tandem {

using namespace recordio;

namespace {

// Bounds the records that a header may declare: no codec here makes more than this of a byte, and a record takes four.
constexpr std::uint64_t kMaxExpansion = 1100;

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

// A chunk, and what is made of it at its first use.
struct Chunk : RecordIOChunk {
  std::uint32_t checksum = 0;
  std::atomic<bool> ready = false;
  std::mutex mutex;
  Buffer decompressed;
  Bytes payload;
  std::vector<std::uint32_t> offsets;
};

}  // namespace

struct RecordIOReader::Impl {
  explicit Impl(const std::string& name) : path(name), file(name) {}

  void scan();
  [[noreturn]] void damaged(std::size_t number, std::uint64_t offset, const std::string& reason) const;
  void ready(std::size_t number);
  void load(std::size_t number);

  std::string path;
  MappedFile file;
  std::deque<Chunk> chunks;                // a Chunk cannot move
  std::vector<std::int64_t> first_record;  // of each chunk, and the total
};

void RecordIOReader::Impl::damaged(std::size_t number, std::uint64_t offset, const std::string& reason) const {
  throw Error(ErrorCode::kDataLoss, path + ": chunk " + std::to_string(number) + " at byte " + std::to_string(offset) +
                                        " is damaged: " + reason + "; restore the file or write it again");
}

void RecordIOReader::Impl::scan() {
  const Bytes bytes = file.bytes();
  std::int64_t records = 0;
  std::uint64_t at = 0;
  first_record.push_back(0);
  while (at < bytes.size()) {
    const std::size_t number = chunks.size();
    const Bytes rest = bytes.subspan(at);
    const bool has_magic = rest.size() >= 4 && load_u32(rest.data()) == kMagic;
    if (number == 0 && !has_magic) {
      const std::string guess = guess_other_format(bytes);
      throw Error(ErrorCode::kDataLoss,
                  path + ": chunk 0 at byte 0 has a wrong magic number: this is not a RecordIO file" +
                      (guess.empty() ? "" : "; " + guess));
    }
    if (rest.size() < kHeaderBytes) {
      damaged(number, at, "the file ends inside its header, " + std::to_string(rest.size()) + " bytes of 20");
    }
    if (!has_magic) damaged(number, at, "its magic number is " + hex(load_u32(rest.data())) + ", not " + hex(kMagic));
    const std::uint32_t checksum = load_u32(rest.data() + 4);
    const std::uint32_t compressor = load_u32(rest.data() + 8);
    const std::uint32_t size = load_u32(rest.data() + 12);
    const std::uint32_t count = load_u32(rest.data() + 16);
    const bool fits = size <= rest.size() - kHeaderBytes;
    if (number == 0 && (compressor > 2 || !fits)) {
      if (const std::string guess = guess_other_format(bytes); !guess.empty()) {
        throw Error(ErrorCode::kDataLoss, path + ": chunk 0 at byte 0 is not RecordIO v1; " + guess);
      }
    }
    if (compressor > 2) damaged(number, at, "its compressor is " + std::to_string(compressor) + ", none of 0, 1, 2");
    if (!fits) {
      damaged(number, at,
              "it is truncated: its header declares " + std::to_string(size) + " bytes, the file has " +
                  std::to_string(rest.size() - kHeaderBytes));
    }
    if (count > (compressor == 0 ? size / 4 : size * kMaxExpansion / 4)) {
      damaged(number, at,
              "its header declares " + std::to_string(count) + " records, more than " + std::to_string(size) +
                  " bytes can hold");
    }
    // The count is outside the checksum, and a chunk without records is never looked into.
    if (count == 0 && size > 0) {
      damaged(number, at, "its header declares no records, but " + std::to_string(size) + " bytes");
    }
    Chunk& chunk = chunks.emplace_back();
    chunk.offset = at;
    chunk.stored_size = size;
    chunk.compressor = static_cast<Compressor>(compressor);
    chunk.first_record = records;
    chunk.records = count;
    chunk.checksum = checksum;
    records += count;
    first_record.push_back(records);
    at += kHeaderBytes + size;
  }
}

void RecordIOReader::Impl::ready(std::size_t number) {
  Chunk& chunk = chunks[number];
  if (chunk.ready.load(std::memory_order_acquire)) return;
  std::lock_guard<std::mutex> lock(chunk.mutex);
  if (chunk.ready.load(std::memory_order_relaxed)) return;
  load(number);
  chunk.ready.store(true, std::memory_order_release);
}

void RecordIOReader::Impl::load(std::size_t number) {
  Chunk& chunk = chunks[number];
  const Bytes stored = file.bytes().subspan(chunk.offset + kHeaderBytes, chunk.stored_size);
  if (const std::uint32_t actual = crc32(stored); actual != chunk.checksum) {
    damaged(number, chunk.offset, "its checksum is " + hex(actual) + ", its header says " + hex(chunk.checksum));
  }
  try {
    chunk.payload = stored;
    if (chunk.compressor != Compressor::kNone) {
      chunk.decompressed =
          chunk.compressor == Compressor::kSnappy ? snappy_decompress(stored) : gzip_decompress(stored);
      chunk.payload = {chunk.decompressed.data.get(), chunk.decompressed.size};
    }
    chunk.offsets = index_records(chunk.payload, static_cast<std::uint32_t>(chunk.records));
  } catch (const Damaged& what) {
    damaged(number, chunk.offset, what.reason);
  }
}

RecordIOReader::RecordIOReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {
  impl_->scan();
}

RecordIOReader::~RecordIOReader() = default;

std::int64_t RecordIOReader::size() const {
  return impl_->first_record.back();
}

std::span<const std::uint8_t> RecordIOReader::operator[](std::int64_t index) {
  if (index < 0 || index >= size()) {
    throw Error(ErrorCode::kOutOfRange, impl_->path + " has " + std::to_string(size()) +
                                            " records; there is no record " + std::to_string(index));
  }
  const auto& first = impl_->first_record;
  const std::size_t number = std::upper_bound(first.begin(), first.end(), index) - first.begin() - 1;
  impl_->ready(number);
  const Chunk& chunk = impl_->chunks[number];
  const std::size_t i = static_cast<std::size_t>(index - chunk.first_record);
  return chunk.payload.subspan(chunk.offsets[i], chunk.offsets[i + 1] - 4 - chunk.offsets[i]);
}

const std::string& RecordIOReader::path() const {
  return impl_->path;
}

std::size_t RecordIOReader::chunk_count() const {
  return impl_->chunks.size();
}

RecordIOChunk RecordIOReader::chunk(std::size_t number) const {
  if (number >= impl_->chunks.size()) {
    throw Error(ErrorCode::kOutOfRange, impl_->path + " has " + std::to_string(impl_->chunks.size()) +
                                            " chunks; there is no chunk " + std::to_string(number));
  }
  return impl_->chunks[number];
}

std::uint64_t RecordIOReader::verify(std::size_t number) {
  chunk(number);
  impl_->ready(number);
  return impl_->chunks[number].payload.size();
}

}  // namespace tandem
