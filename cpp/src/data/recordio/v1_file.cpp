#include "base/fingerprint.h"
#include "base/lost_pages.h"
#include "data/recordio/chunk_contents.h"
#include "data/recordio/chunk_finder.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v1_index.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace {

struct V1Content {
  Record stored;  // its owner keeps what was fetched
  Buffer decompressed;
  Bytes payload;
  std::vector<std::uint32_t> offsets;

  // Offsets of a plain chunk in a map stay: finding them again takes a walk through all of it.
  std::uint64_t cached_bytes() const {
    const std::uint64_t bytes = decompressed.size + (stored.owner ? stored.bytes.size() : 0);
    return bytes == 0 ? 0 : bytes + offsets.size() * sizeof offsets[0];
  }
};

class V1File : public RecordFile {
 public:
  V1File(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options, std::shared_ptr<LruCache> cache)
      : file_(std::move(file)),
        most_chunk_bytes_(options.most_chunk_bytes),
        index_(find_chunks(*file_, options)),
        contents_(index_.chunks.size(), std::move(cache)) {}

  std::int64_t size() const override { return index_.records(); }
  Record record(std::int64_t index) override;
  std::size_t chunk_count() const override { return index_.chunks.size(); }
  RecordIOChunk chunk(std::size_t number) const override {
    const V1Chunk& chunk = index_.chunks[number];
    return {chunk.offset, chunk.stored_size, chunk.compressor, chunk.first_record, chunk.records};
  }
  std::size_t chunk_of(std::int64_t index) const override { return finder_.find(index_.chunks, index); }
  std::uint64_t verify(std::size_t number) override { return load(number).payload.size(); }
  int version() const override { return 1; }
  RecordIODialect dialect() const override { return index_.dialect; }
  const RecordIOMetadata& metadata() const override { return metadata_; }
  std::uint64_t fingerprint() const override;

 private:
  ChunkContents<V1Content>::Held content(std::size_t number);
  V1Content load(std::size_t number) const;

  const std::shared_ptr<DataFile> file_;
  const std::uint64_t most_chunk_bytes_;
  const V1Index index_;
  const ChunkFinder finder_;
  ChunkContents<V1Content> contents_;
  const RecordIOMetadata metadata_;
};

V1Content V1File::load(std::size_t number) const {
  const V1Chunk& chunk = index_.chunks[number];
  V1Content content;
  try {
    check_header(*file_, chunk, index_.dialect);
    content.stored = file_->read(chunk.offset + kHeaderBytes, chunk.stored_size);
    if (chunk.compressor == Compressor::kNone) {
      content.stored = to_keep(std::move(content.stored));
      content.payload = content.stored.bytes;
      content.offsets = check_and_index(content.payload, chunk.checksum, chunk.records, index_.dialect);
    } else {
      check_payload(content.stored.bytes, chunk.checksum, index_.dialect);
      content.payload = decompress(content.stored.bytes, chunk.compressor, index_.dialect, most_chunk_bytes_,
                                   content.decompressed);
      content.offsets = index_records(content.payload, chunk.records);
    }
  } catch (const TooLarge& what) {
    throw_too_large(file_->name(), number, chunk.offset, what.bytes, most_chunk_bytes_);
  } catch (const Damaged& what) {
    file_->check(chunk.offset, kHeaderBytes + chunk.stored_size);
    throw_damaged_chunk(file_->name(), number, chunk.offset, what.reason);
  }
  if (content.decompressed.data) content.stored = {};
  return content;
}

ChunkContents<V1Content>::Held V1File::content(std::size_t number) {
  return contents_.get(number, [&] { return without_lost_pages([&] { return load(number); }); });
}

Record V1File::record(std::int64_t index) {
  const std::size_t number = chunk_of(index);
  auto held = content(number);
  const std::vector<std::uint32_t>& offsets = held.content->offsets;
  const auto i = static_cast<std::size_t>(index - index_.chunks[number].first_record);
  // Verified when it was loaded, but a map follows the file.
  if (!held.owner && !held.content->decompressed.data) {
    file_->require(index_.chunks[number].offset + kHeaderBytes + offsets[i], offsets[i + 1] - 4 - offsets[i]);
  }
  return {held.content->payload.subspan(offsets[i], offsets[i + 1] - 4 - offsets[i]), std::move(held.owner)};
}

std::uint64_t V1File::fingerprint() const {
  Fingerprint fingerprint;
  fingerprint.add(file_->size());
  for (const V1Chunk& chunk : index_.chunks) {
    fingerprint.add(chunk.offset);
    fingerprint.add(std::uint64_t{chunk.records} << 32 | chunk.checksum);
  }
  return fingerprint.value();
}

}  // namespace

std::unique_ptr<RecordFile> open_v1(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                    std::shared_ptr<LruCache> cache) {
  return std::make_unique<V1File>(std::move(file), options, std::move(cache));
}

}  // namespace tandem::recordio
