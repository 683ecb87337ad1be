#include "data/recordio/v1_index.h"

#include <algorithm>
#include <array>

#include "base/atomic_file.h"
#include "base/crc32c.h"
#include "data/formats/detect.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace {

constexpr std::array<std::uint8_t, 8> kIndexMagic = {0x89, 'T', 'R', 'I', 'X', '\r', '\n', 0x1a};
constexpr std::uint32_t kIndexVersion = 1;
constexpr std::size_t kIndexHeader = 64, kIndexEntry = 24;
// A walk over fewer headers is done before an index is read.
constexpr std::size_t kWorthAnIndex = 256;
// Of the chunks that an index names, so many are looked at before it is believed, the first and the last among them.
constexpr std::size_t kProbes = 8;

constexpr const char* kIndexEnding = ".idx";

ChunkHeader read_header(DataFile& file, std::uint64_t offset, RecordIODialect dialect) {
  const std::uint64_t rest = file.size() - offset;
  return decode_header(file.read(offset, std::min<std::uint64_t>(rest, kHeaderBytes)).bytes, rest, dialect);
}

bool is_index(DataFile& file) {
  if (file.size() < kIndexMagic.size()) return false;
  return std::ranges::equal(file.read(0, kIndexMagic.size()).bytes, kIndexMagic);
}

std::shared_ptr<DataFile> open_index(const DataFile& file) {
  try {
    return file.open_other(file.path() + kIndexEnding);
  } catch (const Error&) {  // the file itself tells everything
    return nullptr;
  }
}

// Nothing where any of it does not fit.
std::optional<V1Index> decode_index(Bytes bytes, DataFile& file) {
  const std::uint8_t* header = bytes.data();
  const Bytes entries = bytes.subspan(kIndexHeader);
  const std::uint32_t dialect = load_u32(header + 12);
  if (load_u32(header + 60) != crc32c(bytes.first(60)) || load_u32(header + 8) != kIndexVersion ||
      dialect > static_cast<std::uint32_t>(RecordIODialect::kPyRecordIO) || load_u64(header + 16) != file.size() ||
      entries.size() % kIndexEntry != 0 || load_u64(header + 32) != entries.size() / kIndexEntry ||
      load_u32(header + 40) != crc32c(entries)) {
    return {};
  }
  if (const auto modified = file.modified();
      modified && load_u64(header + 24) != static_cast<std::uint64_t>(*modified)) {
    return {};
  }
  V1Index index;
  index.dialect = static_cast<RecordIODialect>(dialect);
  index.chunks.reserve(entries.size() / kIndexEntry);
  std::uint64_t offset = 0;
  for (std::size_t at = 0; at < entries.size(); at += kIndexEntry) {
    const std::uint8_t* entry = entries.data() + at;
    const std::uint32_t compressor = load_u32(entry + 20);
    const V1Chunk chunk{load_u64(entry),      index.records(),      load_u32(entry + 8),
                        load_u32(entry + 12), load_u32(entry + 16), static_cast<Compressor>(compressor)};
    if (chunk.offset != offset || compressor > 2) return {};
    offset = chunk.end();
    index.chunks.push_back(chunk);
  }
  if (offset != file.size()) return {};
  return index;
}

bool probes_fit(DataFile& file, const V1Index& index) {
  const std::size_t count = index.chunks.size();
  try {
    for (std::size_t i = 0; i < std::min(count, kProbes); ++i) {
      const std::size_t probe = count <= kProbes ? i : i * (count - 1) / (kProbes - 1);
      check_header(file, index.chunks[probe], index.dialect);
    }
  } catch (const Damaged&) {
    return false;
  }
  return true;
}

}  // namespace

void throw_damaged_chunk(const std::string& file, std::uint64_t number, std::uint64_t offset,
                         const std::string& reason) {
  throw Error(ErrorCode::kDataLoss, file + ": chunk " + std::to_string(number) + " at byte " + std::to_string(offset) +
                                        " is damaged: " + reason +
                                        "; restore the file, or keep its good chunks with `tandem record repair`");
}

RecordIODialect find_dialect(DataFile& file) {
  if (file.size() == 0) return RecordIODialect::kOriginal;
  const Bytes magic = file.read(0, std::min<std::uint64_t>(file.size(), 4)).bytes;
  if (magic.size() < 4 || load_u32(magic.data()) != kMagic) {
    throw Error(ErrorCode::kDataLoss, file.name() +
                                          ": chunk 0 at byte 0 has a wrong magic number: this is not a RecordIO file" +
                                          what_else_it_is(file));
  }
  std::string reason;
  try {
    // The others have their checksum where the original's compressor is, a number below 3.
    read_header(file, 0, RecordIODialect::kOriginal);
    return RecordIODialect::kOriginal;
  } catch (const Damaged& what) {
    reason = what.reason;
  }
  for (const RecordIODialect dialect : {RecordIODialect::kPaddle, RecordIODialect::kPyRecordIO}) {
    try {
      const ChunkHeader header = read_header(file, 0, dialect);
      if (payload_checksum(file.read(kHeaderBytes, header.stored_size).bytes, dialect) == header.checksum) {
        return dialect;
      }
    } catch (const Damaged&) {
    }
  }
  throw_damaged_chunk(file.name(), 0, 0, reason);
}

V1Index walk_chunks(DataFile& file, RecordIODialect dialect) {
  V1Index index;
  index.dialect = dialect;
  for (std::uint64_t at = 0; at < file.size();) {
    try {
      const ChunkHeader header = read_header(file, at, dialect);
      index.chunks.push_back(
          {at, index.records(), header.stored_size, header.records, header.checksum, header.compressor});
    } catch (const Damaged& what) {
      throw_damaged_chunk(file.name(), index.chunks.size(), at, what.reason);
    }
    at = index.chunks.back().end();
  }
  return index;
}

std::optional<V1Index> load_index(DataFile& file, std::optional<RecordIODialect> dialect) {
  const auto sidecar = open_index(file);
  // No file has more chunks than headers would fit into it.
  if (!sidecar || !is_index(*sidecar) || sidecar->size() < kIndexHeader ||
      sidecar->size() > kIndexHeader + file.size() / kHeaderBytes * kIndexEntry) {
    return {};
  }
  std::optional<V1Index> index = decode_index(sidecar->read(0, sidecar->size()).bytes, file);
  if (index && ((dialect && index->dialect != *dialect) || !probes_fit(file, *index))) index.reset();
  return index;
}

bool is_index_file(const std::string& path) {
  try {
    return is_index(*open_data_file(path));
  } catch (const Error&) {
    return false;
  }
}

void save_index(DataFile& file, const V1Index& index) {
  const std::string path = file.path() + kIndexEnding;
  if (const auto there = open_index(file); there && !is_index(*there)) {
    throw Error(ErrorCode::kIo, file.name() + kIndexEnding +
                                    " is no index of a RecordIO file, so none is written over it; move it away");
  }
  const auto modified = file.modified();
  if (!modified) throw Error(ErrorCode::kIo, file.name() + " is not on this host: no index can be written beside it");
  std::vector<std::uint8_t> bytes(kIndexHeader + kIndexEntry * index.chunks.size());
  std::uint8_t* entry = bytes.data() + kIndexHeader;
  for (const V1Chunk& chunk : index.chunks) {
    store_u64(entry, chunk.offset);
    store_u32(entry + 8, chunk.stored_size);
    store_u32(entry + 12, chunk.records);
    store_u32(entry + 16, chunk.checksum);
    store_u32(entry + 20, static_cast<std::uint32_t>(chunk.compressor));
    entry += kIndexEntry;
  }
  std::uint8_t* header = bytes.data();
  std::copy(kIndexMagic.begin(), kIndexMagic.end(), header);
  store_u32(header + 8, kIndexVersion);
  store_u32(header + 12, static_cast<std::uint32_t>(index.dialect));
  store_u64(header + 16, file.size());
  store_u64(header + 24, static_cast<std::uint64_t>(*modified));
  store_u64(header + 32, index.chunks.size());
  store_u32(header + 40, crc32c(Bytes(bytes).subspan(kIndexHeader)));
  store_u32(header + 60, crc32c(Bytes(bytes).first(60)));
  AtomicFile target(path);
  target.append(bytes.data(), bytes.size());
  target.commit();
}

V1Index find_chunks(DataFile& file, const RecordIOReaderOptions& options) {
  if (options.index) {
    if (auto index = load_index(file, options.dialect)) return *std::move(index);
  }
  V1Index index = walk_chunks(file, options.dialect ? *options.dialect : find_dialect(file));
  if (options.index) {
    const auto stale = open_index(file);
    if (index.chunks.size() >= kWorthAnIndex || (stale && is_index(*stale))) {
      try {
        save_index(file, index);
      } catch (const Error&) {  // a folder that others own: the next one to open the file walks again
      }
    }
  }
  return index;
}

void check_header(DataFile& file, const V1Chunk& chunk, RecordIODialect dialect) {
  const ChunkHeader header = read_header(file, chunk.offset, dialect);
  if (header.stored_size != chunk.stored_size || header.records != chunk.records || header.checksum != chunk.checksum ||
      header.compressor != chunk.compressor) {
    throw Damaged{"its header is not what its index says (make " + file.name() + kIndexEnding +
                  " anew with `tandem record index`)"};
  }
}

}  // namespace tandem::recordio
