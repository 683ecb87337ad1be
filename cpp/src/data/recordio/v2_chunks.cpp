#include "data/recordio/v2_chunks.h"

#include "base/crc32c.h"
#include "base/mix.h"

namespace tandem::recordio::v2 {

// The marker follows from what the file holds: the same records give the same file, and a file inside of a record of
// another one has another marker.
void ChunkWriter::begin(Bytes first) {
  if (begun_) return;
  begun_ = true;
  const Bytes text{reinterpret_cast<const std::uint8_t*>(metadata_.data()), metadata_.size()};
  const std::uint64_t seed = static_cast<std::uint64_t>(crc32c(first)) << 32 | crc32c(text);
  store_u64(sync_.data(), mix(seed ^ mix(first.size())));
  store_u64(sync_.data() + 8, mix(mix(seed) + first.size()));
  std::vector<std::uint8_t> block(text.begin(), text.end());
  block.resize(padded(block.size()));
  put(encode(FileHeader{sync_, text.size(), crc32c(block)}));
  put(block);
}

void ChunkWriter::put(Bytes bytes) {
  file_.append(bytes.data(), bytes.size());
  offset_ += bytes.size();
}

void ChunkWriter::put_chunk(ChunkHeader header, Bytes stored) {
  const std::array<std::uint8_t, kBlock> zeros{};
  const Bytes padding = Bytes(zeros).first(padded(stored.size()) - stored.size());
  header.sync = sync_;
  header.stored_bytes = stored.size();
  header.stored_crc = crc32c(padding, crc32c(stored));
  put(encode(header));
  put(stored);
  put(padding);
}

void ChunkWriter::append(std::uint64_t records, Compressor codec, std::uint32_t alignment, std::uint64_t content_bytes,
                         Bytes stored) {
  begin(stored);
  entries_.push_back({offset_, records, content_bytes, stored.size()});
  ChunkHeader header{};
  header.type = ChunkType::kRecords;
  header.codec = codec;
  header.alignment = alignment;
  header.first_record = records_;
  header.records = records;
  header.content_bytes = content_bytes;
  put_chunk(header, stored);
  records_ += records;
}

void ChunkWriter::finish() {
  begin({});
  std::vector<std::uint8_t> table(entries_.size() * kFooterEntryBytes);
  std::uint8_t* at = table.data();
  for (const FooterEntry& entry : entries_) {
    store_u64(at, entry.offset);
    store_u64(at + 8, entry.records);
    store_u64(at + 16, entry.content_bytes);
    store_u64(at + 24, entry.stored_bytes);
    at += kFooterEntryBytes;
  }
  const std::uint64_t footer = offset_;
  ChunkHeader header{};
  header.type = ChunkType::kFooter;
  header.alignment = 1;
  header.first_record = records_;
  header.records = entries_.size();
  header.content_bytes = table.size();
  put_chunk(header, table);
  put(encode(Trailer{sync_, footer, records_, entries_.size()}));
}

}  // namespace tandem::recordio::v2
