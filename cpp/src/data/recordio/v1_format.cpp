#include "data/recordio/v1_format.h"

#include <libdeflate.h>
#include <snappy.h>

#include <algorithm>
#include <cstdio>

#include "base/crc32c.h"

namespace tandem::recordio {
namespace {

constexpr std::size_t kBlock = 65536;  // the framing format's limit for a block before compression
constexpr std::uint8_t kStreamIdentifier[10] = {0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};
constexpr std::uint8_t kCompressedFrame = 0x00;
constexpr std::uint8_t kPlainFrame = 0x01;

// No deflate stream expands by more; it bounds what a damaged length can make us allocate.
constexpr std::uint64_t kMaxDeflateRatio = 1032;
// Nor any Snappy block: a copy of 64 bytes takes three.
constexpr std::uint64_t kMaxSnappyRatio = 22;

// Bounds the records that a header may declare: no codec here makes more than this of a byte, and a record takes four.
constexpr std::uint64_t kMaxExpansion = 1100;

// Bytes that are still in the processor's cache when they are used a second time.
constexpr std::size_t kInCache = 64u << 10;

// One frame of a Snappy stream.
struct Frame {
  std::uint8_t type;
  Bytes body;
};

// Takes the frame at the front of `rest`.
Frame next_frame(Bytes& rest) {
  if (rest.size() < 4) throw Damaged{"its Snappy data ends inside a frame's header"};
  const std::size_t size = load_u32(rest.data()) >> 8;
  if (rest.size() - 4 < size) throw Damaged{"its Snappy data ends inside a frame"};
  Frame frame{rest[0], rest.subspan(4, size)};
  rest = rest.subspan(4 + size);
  return frame;
}

// Bytes that a data frame holds once decompressed.
std::size_t plain_size(const Frame& frame) {
  if (frame.body.size() < 4) throw Damaged{"a Snappy frame is too short for its checksum"};
  const Bytes block = frame.body.subspan(4);
  std::size_t size = block.size();
  if (frame.type == kCompressedFrame &&
      !snappy::GetUncompressedLength(reinterpret_cast<const char*>(block.data()), block.size(), &size)) {
    throw Damaged{"a Snappy frame does not begin with a length"};
  }
  if (size > kBlock) throw Damaged{"a Snappy frame declares more than 64 KiB"};
  return size;
}

// Calls `use` for each frame that holds data.
template <typename Use>
void for_each_data_frame(Bytes stored, const Use& use) {
  Bytes rest = stored;
  while (!rest.empty()) {
    const Frame frame = next_frame(rest);
    if (frame.type == kCompressedFrame || frame.type == kPlainFrame) {
      use(frame);
    } else if (frame.type == kStreamIdentifier[0]) {
      if (!std::ranges::equal(frame.body, std::span(kStreamIdentifier).subspan(4))) {
        throw Damaged{"its Snappy stream identifier is wrong"};
      }
    } else if (frame.type < 0x80) {
      throw Damaged{"it holds a Snappy frame of unknown type " + std::to_string(frame.type)};
    }
  }
}

std::uint32_t extend_checksum(Bytes stored, std::uint32_t before, RecordIODialect dialect) {
  return dialect == RecordIODialect::kPyRecordIO ? crc32c(stored, before) : crc32(stored, before);
}

void compare_checksums(std::uint32_t actual, std::uint32_t declared) {
  if (actual != declared) {
    throw Damaged{"its checksum is " + hex(actual) + ", its header says " + hex(declared)};
  }
}

// Finds where records begin, by steps from length to length. Each step waits for memory unless its bytes were used just
// before.
class RecordWalk {
 public:
  // Throws Damaged where `count` records cannot be in the payload.
  RecordWalk(Bytes payload, std::uint32_t count) : payload_(payload), count_(count) {
    if (payload.size() > 0xffffffffu - 4) throw Damaged{"its payload exceeds 4 GiB"};
    if (count > payload.size() / 4) {
      throw Damaged{"its header declares " + std::to_string(count) + " records, more than its payload of " +
                    std::to_string(payload.size()) + " bytes can hold"};
    }
    offsets_.resize(static_cast<std::size_t>(count) + 1);
  }

  // As far as lengths lie before `end`, or up to one that is wrong.
  void advance(std::size_t end) {
    std::uint32_t* const offsets = offsets_.data();
    std::size_t at = at_;
    std::uint32_t found = found_;
    while (found < count_ && at + 4 <= end) {
      const std::uint32_t length = load_u32(payload_.data() + at);
      if (payload_.size() - at - 4 < length) break;
      offsets[found++] = static_cast<std::uint32_t>(at + 4);
      at += 4 + std::size_t{length};
    }
    at_ = at;
    found_ = found;
  }

  // As index_records() says, once the walk went to the payload's end.
  std::vector<std::uint32_t> finish() {
    const std::size_t rest = payload_.size() - at_;
    if (found_ < count_) {
      const std::string record = "record " + std::to_string(found_) + " of it ";
      if (rest < 4) throw Damaged{record + "lies past its payload"};
      throw Damaged{record + "declares " + std::to_string(load_u32(payload_.data() + at_)) +
                    " bytes, past the end of its payload"};
    }
    if (rest != 0) throw Damaged{"its payload has " + std::to_string(rest) + " bytes after its last record"};
    offsets_[count_] = static_cast<std::uint32_t>(at_ + 4);
    return std::move(offsets_);
  }

 private:
  const Bytes payload_;
  const std::uint32_t count_;
  std::size_t at_ = 0;
  std::uint32_t found_ = 0;
  std::vector<std::uint32_t> offsets_;
};

}  // namespace

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

ChunkHeader decode_header(Bytes header, std::uint64_t rest, RecordIODialect dialect) {
  if (rest < kHeaderBytes) {
    throw Damaged{"the file ends inside its header, " + std::to_string(rest) + " bytes of 20"};
  }
  if (const std::uint32_t magic = load_u32(header.data()); magic != kMagic) {
    throw Damaged{"its magic number is " + hex(magic) + ", not " + hex(kMagic)};
  }
  const bool original = dialect == RecordIODialect::kOriginal;
  const auto field = [&](std::size_t of_original, std::size_t of_others) {
    return load_u32(header.data() + 4 * (original ? of_original : of_others));
  };
  const std::uint32_t checksum = field(1, 2), stored_compressor = field(2, 3), size = field(3, 4), count = field(4, 1);
  // pyrecordio counts from 1. Its numbers are the original's otherwise, and so are Paddle's, who has no gzip.
  const std::uint32_t compressor = stored_compressor - (dialect == RecordIODialect::kPyRecordIO ? 1 : 0);
  if (compressor > (dialect == RecordIODialect::kPaddle ? 1 : 2)) {
    throw Damaged{"its compressor is " + std::to_string(stored_compressor) + ", none of " +
                  (original                              ? "0, 1, 2"
                   : dialect == RecordIODialect::kPaddle ? "0, 1"
                                                         : "1, 2, 3")};
  }
  rest -= kHeaderBytes;
  if (size > rest) {
    throw Damaged{"it is truncated: its header declares " + std::to_string(size) + " bytes, the file has " +
                  std::to_string(rest)};
  }
  if (count > (compressor == 0 ? size / 4 : size * kMaxExpansion / 4)) {
    throw Damaged{"its header declares " + std::to_string(count) + " records, more than " + std::to_string(size) +
                  " bytes can hold"};
  }
  // The count is outside the checksum, and a chunk without records is never looked into.
  if (count == 0 && size > 0) {
    throw Damaged{"its header declares no records, but " + std::to_string(size) + " bytes"};
  }
  return {checksum, static_cast<Compressor>(compressor), size, count};
}

std::uint32_t payload_checksum(Bytes stored, RecordIODialect dialect) {
  return extend_checksum(stored, 0, dialect);
}

void check_payload(Bytes stored, std::uint32_t checksum, RecordIODialect dialect) {
  compare_checksums(payload_checksum(stored, dialect), checksum);
}

Bytes decompress(Bytes stored, Compressor compressor, RecordIODialect dialect, std::uint64_t most, Buffer& memory) {
  if (compressor == Compressor::kNone) return stored;
  if (compressor == Compressor::kGzip) {
    memory = gzip_decompress(stored, most);
  } else {
    memory = dialect == RecordIODialect::kPyRecordIO ? snappy_block_decompress(stored, most)
                                                   : snappy_decompress(stored, most);
  }
  return {memory.data.get(), memory.size};
}

std::vector<std::uint8_t> snappy_compress(Bytes payload) {
  std::vector<std::uint8_t> stored(std::begin(kStreamIdentifier), std::end(kStreamIdentifier));
  stored.reserve(stored.size() + payload.size() / 2);
  std::vector<char> compressed(snappy::MaxCompressedLength(kBlock));
  for (std::size_t at = 0; at < payload.size(); at += kBlock) {
    const Bytes block = payload.subspan(at, std::min(kBlock, payload.size() - at));
    std::size_t size = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(block.data()), block.size(), compressed.data(), &size);
    // Blocks that hardly shrink are stored: reading those costs a copy only.
    const bool shrinks = size < block.size() - block.size() / 8;
    const std::uint8_t* body = shrinks ? reinterpret_cast<const std::uint8_t*>(compressed.data()) : block.data();
    if (!shrinks) size = block.size();
    append_u32(stored, static_cast<std::uint32_t>(size + 4) << 8 | (shrinks ? kCompressedFrame : kPlainFrame));
    append_u32(stored, masked_crc32c(block));
    stored.insert(stored.end(), body, body + size);
  }
  return stored;
}

Buffer snappy_decompress(Bytes stored, std::uint64_t most) {
  if (stored.size() < sizeof kStreamIdentifier || stored[0] != kStreamIdentifier[0]) {
    throw Damaged{"its Snappy data does not begin with a stream identifier"};
  }
  std::uint64_t total = 0;
  for_each_data_frame(stored, [&](const Frame& frame) { total += plain_size(frame); });
  if (total > 0xffffffffu) throw Damaged{"its payload would exceed 4 GiB"};
  require_at_most(total, most);
  Buffer payload = allocate(total);
  std::size_t at = 0;
  for_each_data_frame(stored, [&](const Frame& frame) {
    const std::size_t size = plain_size(frame);
    const Bytes block = frame.body.subspan(4);
    std::uint8_t* to = payload.data.get() + at;
    if (frame.type == kPlainFrame) {
      std::memcpy(to, block.data(), size);
    } else if (!snappy::RawUncompress(reinterpret_cast<const char*>(block.data()), block.size(),
                                      reinterpret_cast<char*>(to))) {
      throw Damaged{"a Snappy frame does not decompress"};
    }
    if (masked_crc32c({to, size}) != load_u32(frame.body.data())) {
      throw Damaged{"a Snappy frame's checksum does not match"};
    }
    at += size;
  });
  return payload;
}

Buffer snappy_block_decompress(Bytes stored, std::uint64_t most) {
  const auto* from = reinterpret_cast<const char*>(stored.data());
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(from, stored.size(), &size)) {
    throw Damaged{"its Snappy data does not begin with a length"};
  }
  if (size > stored.size() * kMaxSnappyRatio) throw Damaged{"its Snappy data declares an impossible size"};
  require_at_most(size, most);
  Buffer payload = allocate(size);
  if (!snappy::RawUncompress(from, stored.size(), reinterpret_cast<char*>(payload.data.get()))) {
    throw Damaged{"its Snappy data does not decompress"};
  }
  return payload;
}

std::vector<std::uint8_t> gzip_compress(Bytes payload) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::vector<std::uint8_t> stored(libdeflate_gzip_compress_bound(compressor.get(), payload.size()));
  stored.resize(
      libdeflate_gzip_compress(compressor.get(), payload.data(), payload.size(), stored.data(), stored.size()));
  return stored;
}

Buffer gzip_decompress(Bytes stored, std::uint64_t most) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  if (stored.size() < 18) throw Damaged{"its gzip data is too short"};
  // The last four bytes are the size of the last member, and writers make one member only.
  const std::uint64_t declared = load_u32(stored.data() + stored.size() - 4);
  if (declared > stored.size() * kMaxDeflateRatio) throw Damaged{"its gzip data declares an impossible size"};
  require_at_most(declared, most);
  Buffer payload = allocate(declared);
  std::size_t consumed = 0;
  std::size_t produced = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      decompressor.get(), stored.data(), stored.size(), payload.data.get(), payload.size, &consumed, &produced);
  if (result != LIBDEFLATE_SUCCESS || consumed != stored.size() || produced != payload.size) {
    throw Damaged{"its gzip data does not decompress to the size that it declares"};
  }
  return payload;
}

std::vector<std::uint32_t> index_records(Bytes payload, std::uint32_t count) {
  RecordWalk walk(payload, count);
  walk.advance(payload.size());
  return walk.finish();
}

std::vector<std::uint32_t> check_and_index(Bytes payload, std::uint32_t checksum, std::uint32_t count,
                                           RecordIODialect dialect) {
  RecordWalk walk(payload, count);
  std::uint32_t actual = 0;
  for (std::size_t at = 0; at < payload.size();) {
    const std::size_t end = std::min(payload.size(), at + kInCache);
    actual = extend_checksum(payload.subspan(at, end - at), actual, dialect);
    walk.advance(end);
    at = end;
  }
  compare_checksums(actual, checksum);
  return walk.finish();
}

}  // namespace tandem::recordio
