#include <algorithm>
#include <deque>

#include "crc32c.h"
#include "data/recordio/chunk_content.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v2_format.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace {

using namespace v2;

struct Content {
  Buffer decompressed;
  RecordTable table;
};

struct Chunk : RecordIOChunk {
  std::uint64_t content_bytes = 0;
  OnceLoaded<Content> content;
};

class V2File : public RecordFile {
 public:
  explicit V2File(const std::string& path) : path_(path), file_(path) { open(); }

  std::int64_t size() const override { return first_record_.back(); }
  Bytes record(std::int64_t index) override;
  std::size_t chunk_count() const override { return chunks_.size(); }
  RecordIOChunk chunk(std::size_t number) const override { return chunks_[number]; }
  std::uint64_t verify(std::size_t number) override { return content(number).table.content().size(); }
  int version() const override { return 2; }
  const RecordIOMetadata& metadata() const override { return metadata_; }

 private:
  void open();
  void read_footer(const Trailer& trailer, std::uint64_t first_chunk);
  const Content& content(std::size_t number);

  std::string path_;
  MappedFile file_;
  FileHeader header_;
  std::deque<Chunk> chunks_;                // a Chunk cannot move
  std::vector<std::int64_t> first_record_;  // of each chunk, and the total
  RecordIOMetadata metadata_;
};

void V2File::open() {
  const Bytes bytes = file_.bytes();
  try {
    if (bytes.size() < 3 * kBlock || bytes.size() % kBlock != 0) throw Damaged{"it is cut off"};
    header_ = decode_file_header(bytes.first(kBlock));
    const std::uint64_t first_chunk = kBlock + padded(header_.metadata_bytes);
    if (first_chunk > bytes.size()) throw Damaged{"it is cut off in its metadata"};
    const Bytes metadata = bytes.subspan(kBlock, first_chunk - kBlock);
    if (crc32c(metadata) != header_.metadata_crc) throw Damaged{"the checksum of its metadata does not match"};
    metadata_ = decode_metadata(metadata.first(header_.metadata_bytes));
    const Trailer trailer = decode_trailer(bytes.last(kBlock));
    if (trailer.sync != header_.sync) throw Damaged{"its header and its trailer are of different files"};
    read_footer(trailer, first_chunk);
  } catch (const Damaged& what) {
    throw Error(ErrorCode::kDataLoss, path_ + " is damaged: " + what.reason +
                                          "; restore the file, or keep its good chunks with `tandem record repair`");
  }
}

// Every byte between metadata and trailer belongs to a chunk, and so to a checksum.
void V2File::read_footer(const Trailer& trailer, std::uint64_t first_chunk) {
  const Bytes bytes = file_.bytes();
  const ChunkHeader footer = check_chunk(bytes, trailer.footer_offset);
  if (footer.type != ChunkType::kFooter || footer.sync != header_.sync ||
      trailer.footer_offset + footer.whole_bytes() != bytes.size() - kBlock) {
    throw Damaged{"its trailer does not lead to its footer"};
  }
  if (footer.records != trailer.chunks || footer.first_record != trailer.records ||
      footer.stored_bytes / kFooterEntryBytes != trailer.chunks || footer.stored_bytes % kFooterEntryBytes != 0 ||
      footer.codec != Compressor::kNone) {
    throw Damaged{"its footer and its trailer differ"};
  }
  const Bytes entries = bytes.subspan(trailer.footer_offset + kBlock, footer.stored_bytes);
  std::uint64_t offset = first_chunk, records = 0;
  first_record_.push_back(0);
  for (std::uint64_t i = 0; i < trailer.chunks; ++i) {
    const std::uint8_t* at = entries.data() + i * kFooterEntryBytes;
    const FooterEntry entry{load_u64(at), load_u64(at + 8), load_u64(at + 16), load_u64(at + 24)};
    const std::uint64_t room = trailer.footer_offset - std::min(offset, trailer.footer_offset);
    if (entry.offset != offset || room < kBlock || entry.stored_bytes > room - kBlock ||
        entry.content_bytes > kMostContent || entry.records > entry.content_bytes / 8) {
      throw Damaged{"its footer has an impossible entry for chunk " + std::to_string(i)};
    }
    Chunk& chunk = chunks_.emplace_back();
    chunk.offset = offset;
    chunk.stored_size = entry.stored_bytes;
    chunk.first_record = static_cast<std::int64_t>(records);
    chunk.records = static_cast<std::int64_t>(entry.records);
    chunk.content_bytes = entry.content_bytes;
    chunk.compressor = entry.content_bytes == entry.stored_bytes ? Compressor::kNone : Compressor::kZstd;
    records += entry.records;
    first_record_.push_back(static_cast<std::int64_t>(records));
    offset += kBlock + padded(entry.stored_bytes);
  }
  if (offset != trailer.footer_offset || records != trailer.records) {
    throw Damaged{"its footer leaves out a part of it"};
  }
}

const Content& V2File::content(std::size_t number) {
  Chunk& chunk = chunks_[number];
  return chunk.content.get([&] {
    Content content;
    try {
      const ChunkHeader header = check_chunk(file_.bytes(), chunk.offset);
      if (header.type != ChunkType::kRecords || header.sync != header_.sync ||
          header.stored_bytes != chunk.stored_size || header.content_bytes != chunk.content_bytes ||
          header.records != static_cast<std::uint64_t>(chunk.records) ||
          header.first_record != static_cast<std::uint64_t>(chunk.first_record)) {
        throw Damaged{"its header and the footer differ"};
      }
      const Bytes bytes = chunk_content(file_.bytes(), chunk.offset, header, content.decompressed);
      content.table = RecordTable(bytes, header.records, header.alignment);
    } catch (const Damaged& what) {
      throw Error(ErrorCode::kDataLoss, path_ + ": chunk " + std::to_string(number) + " at byte " +
                                            std::to_string(chunk.offset) + " is damaged: " + what.reason +
                                            "; restore the file, or keep its good chunks with `tandem record repair`");
    }
    return content;
  });
}

Bytes V2File::record(std::int64_t index) {
  const auto next = std::upper_bound(first_record_.begin(), first_record_.end(), index);
  const auto number = static_cast<std::size_t>(next - first_record_.begin()) - 1;
  return content(number).table[static_cast<std::uint64_t>(index - first_record_[number])];
}

}  // namespace

std::unique_ptr<RecordFile> open_v2(const std::string& path) {
  return std::make_unique<V2File>(path);
}

}  // namespace tandem::recordio
