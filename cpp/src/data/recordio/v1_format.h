// RecordIO v1's chunk header and the codecs of its payload.
#pragma once

#include <string>
#include <vector>

#include "data/recordio/bytes.h"
#include "tandem/recordio.h"

namespace tandem::recordio {

inline constexpr std::uint32_t kMagic = 0x01020304;
inline constexpr std::size_t kHeaderBytes = 20;
// A payload's size is a u32, compressed or not; the margin is for codecs that make incompressible data longer.
inline constexpr std::uint64_t kMaxPayload = 0xffffffffu - (16u << 20);

std::vector<std::uint8_t> snappy_compress(Bytes payload);
std::vector<std::uint8_t> gzip_compress(Bytes payload);

// Throw Damaged, and TooLarge for more than `most` bytes. None allocates more than the data's own declarations add up
// to, and those are checked against what data of that size can expand to.
Buffer snappy_decompress(Bytes stored, std::uint64_t most);
Buffer snappy_block_decompress(Bytes stored, std::uint64_t most);
Buffer gzip_decompress(Bytes stored, std::uint64_t most);

struct ChunkHeader {
  std::uint32_t checksum;  // of the stored payload
  Compressor compressor;
  std::uint32_t stored_size;
  std::uint32_t records;
};

// Of a chunk that begins `rest` bytes before the file's end, its payload whole in them; `header` has the first 20 of
// them, or as many as there are. Throws Damaged.
ChunkHeader decode_header(Bytes header, std::uint64_t rest, RecordIODialect dialect = RecordIODialect::kOriginal);
std::uint32_t payload_checksum(Bytes stored, RecordIODialect dialect);
// Throws Damaged.
void check_payload(Bytes stored, std::uint32_t checksum, RecordIODialect dialect = RecordIODialect::kOriginal);
// The payload: stored bytes themselves, or decompressed into `memory`. Throws Damaged and TooLarge.
Bytes decompress(Bytes stored, Compressor compressor, RecordIODialect dialect, std::uint64_t most, Buffer& memory);

// The first record begins at its length, at payload[0]; offsets[i] is where record i's bytes begin, offsets[count] is
// payload.size() + 4, so that record i ends at offsets[i + 1] - 4. Throws Damaged unless `count` records fill the
// payload exactly.
std::vector<std::uint32_t> index_records(Bytes payload, std::uint32_t count);
// check_payload() and index_records() of an uncompressed chunk, in one pass over memory instead of two.
std::vector<std::uint32_t> check_and_index(Bytes payload, std::uint32_t checksum, std::uint32_t count,
                                           RecordIODialect dialect);

}  // namespace tandem::recordio
