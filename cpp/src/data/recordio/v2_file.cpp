#include <algorithm>

#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "base/lost_pages.h"
#include "data/recordio/chunk_contents.h"
#include "data/recordio/chunk_finder.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v2_format.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace v2 {
namespace {

struct V2Content {
  Record stored;  // its owner keeps what was fetched
  Buffer decompressed;
  RecordTable table;

  std::uint64_t cached_bytes() const { return decompressed.size + (stored.owner ? stored.bytes.size() : 0); }
};

struct Chunk {
  std::uint64_t offset;
  std::int64_t first_record;
  std::int64_t records;
  std::uint64_t content_bytes;
  std::uint64_t stored_bytes;
};

class V2File : public RecordFile {
 public:
  V2File(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options, std::shared_ptr<LruCache> cache)
      : file_(std::move(file)), most_chunk_bytes_(options.most_chunk_bytes) {
    open();
    contents_.emplace(chunks_.size(), std::move(cache));
  }

  std::int64_t size() const override {
    return chunks_.empty() ? 0 : chunks_.back().first_record + chunks_.back().records;
  }
  Record record(std::int64_t index) override;
  std::size_t chunk_count() const override { return chunks_.size(); }
  RecordIOChunk chunk(std::size_t number) const override {
    const Chunk& chunk = chunks_[number];
    // A writer keeps compressed bytes only where they are fewer.
    return {chunk.offset, chunk.stored_bytes,
            chunk.content_bytes == chunk.stored_bytes ? Compressor::kNone : Compressor::kZstd, chunk.first_record,
            chunk.records};
  }
  std::size_t chunk_of(std::int64_t index) const override { return finder_.find(chunks_, index); }
  std::uint64_t verify(std::size_t number) override { return load(number).table.content().size(); }
  int version() const override { return 2; }
  const RecordIOMetadata& metadata() const override { return metadata_; }
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  void open();
  void read_footer(const Trailer& trailer, std::uint64_t first_chunk);
  ChunkContents<V2Content>::Held content(std::size_t number);
  V2Content load(std::size_t number) const;
  [[noreturn]] void throw_damaged(std::size_t number, const Damaged& what) const;

  const std::shared_ptr<DataFile> file_;
  const std::uint64_t most_chunk_bytes_;
  FileHeader header_;
  std::vector<Chunk> chunks_;
  const ChunkFinder finder_;
  std::optional<ChunkContents<V2Content>> contents_;
  RecordIOMetadata metadata_;
  std::uint64_t fingerprint_ = 0;
};

void V2File::open() {
  const std::uint64_t size = file_->size();
  try {
    if (size < 3 * kBlock || size % kBlock != 0) throw Damaged{"it is cut off"};
    header_ = decode_file_header(file_->read(0, kBlock).bytes);
    const std::uint64_t first_chunk = kBlock + padded(header_.metadata_bytes);
    if (first_chunk > size) throw Damaged{"it is cut off in its metadata"};
    const Record metadata = file_->read(kBlock, first_chunk - kBlock);
    if (crc32c(metadata.bytes) != header_.metadata_crc) throw Damaged{"the checksum of its metadata does not match"};
    metadata_ = decode_metadata(metadata.bytes.first(header_.metadata_bytes));
    const Trailer trailer = decode_trailer(file_->read(size - kBlock, kBlock).bytes);
    if (trailer.sync != header_.sync) throw Damaged{"its header and its trailer are of different files"};
    read_footer(trailer, first_chunk);
  } catch (const Damaged& what) {
    throw Error(ErrorCode::kDataLoss, file_->name() + " is damaged: " + what.reason +
                                          "; restore the file, or keep its good chunks with `tandem record repair`");
  }
}

// Every byte between metadata and trailer belongs to a chunk, and so to a checksum.
void V2File::read_footer(const Trailer& trailer, std::uint64_t first_chunk) {
  const std::uint64_t size = file_->size(), end = size - kBlock;
  // Before any of the footer is read: on another host, a trailer that lies would have all of the file fetched.
  if (trailer.footer_offset < first_chunk || trailer.footer_offset > end ||
      trailer.chunks > (trailer.footer_offset - first_chunk) / kBlock ||
      end - trailer.footer_offset != kBlock + padded(trailer.chunks * kFooterEntryBytes)) {
    throw Damaged{"its trailer does not lead to its footer"};
  }
  const Record rest = file_->read(trailer.footer_offset, size - trailer.footer_offset);
  const ChunkHeader footer = check_chunk(rest.bytes, 0);
  if (footer.type != ChunkType::kFooter || footer.sync != header_.sync ||
      trailer.footer_offset + footer.whole_bytes() != end) {
    throw Damaged{"its trailer does not lead to its footer"};
  }
  if (footer.records != trailer.chunks || footer.first_record != trailer.records ||
      footer.stored_bytes / kFooterEntryBytes != trailer.chunks || footer.stored_bytes % kFooterEntryBytes != 0 ||
      footer.codec != Compressor::kNone) {
    throw Damaged{"its footer and its trailer differ"};
  }
  const Bytes entries = rest.bytes.subspan(kBlock, footer.stored_bytes);
  std::uint64_t offset = first_chunk, records = 0;
  chunks_.reserve(trailer.chunks);
  for (std::uint64_t i = 0; i < trailer.chunks; ++i) {
    const std::uint8_t* at = entries.data() + i * kFooterEntryBytes;
    const FooterEntry entry{load_u64(at), load_u64(at + 8), load_u64(at + 16), load_u64(at + 24)};
    const std::uint64_t room = trailer.footer_offset - std::min(offset, trailer.footer_offset);
    if (entry.offset != offset || room < kBlock || entry.stored_bytes > room - kBlock ||
        entry.content_bytes > kMostContent || entry.records > entry.content_bytes / 8) {
      throw Damaged{"its footer has an impossible entry for chunk " + std::to_string(i)};
    }
    chunks_.push_back({offset, static_cast<std::int64_t>(records), static_cast<std::int64_t>(entry.records),
                       entry.content_bytes, entry.stored_bytes});
    records += entry.records;
    offset += kBlock + padded(entry.stored_bytes);
  }
  if (offset != trailer.footer_offset || records != trailer.records) {
    throw Damaged{"its footer leaves out a part of it"};
  }
  Fingerprint fingerprint;  // the sync marker follows from the first chunk, the checksum from where chunks lie
  for (const std::uint64_t number : {size, records, trailer.chunks, load_u64(header_.sync.data()),
                                     load_u64(header_.sync.data() + 8), std::uint64_t{footer.stored_crc}}) {
    fingerprint.add(number);
  }
  fingerprint_ = fingerprint.value();
}

V2Content V2File::load(std::size_t number) const {
  const Chunk& chunk = chunks_[number];
  V2Content content;
  try {
    // A writer keeps compressed bytes only where they are fewer.
    const bool compressed = chunk.content_bytes != chunk.stored_bytes;
    if (compressed) require_at_most(chunk.content_bytes, most_chunk_bytes_);
    content.stored = file_->read(chunk.offset, kBlock + padded(chunk.stored_bytes));
    if (!compressed) content.stored = to_keep(std::move(content.stored));
    const ChunkHeader header = check_chunk(content.stored.bytes, 0);
    if (header.type != ChunkType::kRecords || header.sync != header_.sync ||
        header.stored_bytes != chunk.stored_bytes || header.content_bytes != chunk.content_bytes ||
        header.records != static_cast<std::uint64_t>(chunk.records) ||
        header.first_record != static_cast<std::uint64_t>(chunk.first_record)) {
      throw Damaged{"its header and the footer differ"};
    }
    const Bytes bytes = chunk_content(content.stored.bytes, 0, header, content.decompressed);
    content.table = RecordTable(bytes, header.records, header.alignment);
  } catch (const TooLarge& what) {
    throw_too_large(file_->name(), number, chunk.offset, what.bytes, most_chunk_bytes_);
  } catch (const Damaged& what) {
    throw_damaged(number, what);
  }
  if (content.decompressed.data) content.stored = {};
  return content;
}

void V2File::throw_damaged(std::size_t number, const Damaged& what) const {
  const Chunk& chunk = chunks_[number];
  file_->check(chunk.offset, kBlock + padded(chunk.stored_bytes));
  throw Error(ErrorCode::kDataLoss, file_->name() + ": chunk " + std::to_string(number) + " at byte " +
                                        std::to_string(chunk.offset) + " is damaged: " + what.reason +
                                        "; restore the file, or keep its good chunks with `tandem record repair`");
}

ChunkContents<V2Content>::Held V2File::content(std::size_t number) {
  return contents_->get(number, [&] { return without_lost_pages([&] { return load(number); }); });
}

Record V2File::record(std::int64_t index) {
  const std::size_t number = chunk_of(index);
  auto held = content(number);
  const auto i = static_cast<std::uint64_t>(index - chunks_[number].first_record);
  // Verified when it was loaded, but a map follows the file.
  const bool is_mapped = !held.owner && !held.content->decompressed.data;
  const RecordTable& table = held.content->table;
  const auto require = [&](const std::uint8_t* begin, std::uint64_t length) {
    const auto at = static_cast<std::uint64_t>(begin - held.content->stored.bytes.data());
    file_->require(chunks_[number].offset + at, length);
  };
  try {
    if (!is_mapped) return {table[i], std::move(held.owner)};
    const std::uint64_t before = ended_page_changes();
    if (const auto bytes = table.find(i)) {
      require(bytes->data(), bytes->size());
      // The table lies before its records, so it is lost only where they are: then it was read in vain.
      if (begun_page_changes() == before) return {*bytes, nullptr};
    }
    require(table.content().data(), 8 * (i + 1));
    const Bytes bytes = table[i];
    require(bytes.data(), bytes.size());
    return {bytes, nullptr};
  } catch (const Damaged& what) {
    throw_damaged(number, what);
  }
}

}  // namespace
}  // namespace v2

std::unique_ptr<RecordFile> open_v2(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                    std::shared_ptr<LruCache> cache) {
  return std::make_unique<v2::V2File>(std::move(file), options, std::move(cache));
}

}  // namespace tandem::recordio
