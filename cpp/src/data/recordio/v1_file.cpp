#include <algorithm>
#include <deque>

#include "data/recordio/chunk_content.h"
#include "data/recordio/other_formats.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v1_format.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace {

struct Content {
  Buffer decompressed;
  Bytes payload;
  std::vector<std::uint32_t> offsets;
};

struct Chunk : RecordIOChunk {
  std::uint32_t checksum = 0;
  OnceLoaded<Content> content;
};

class V1File : public RecordFile {
 public:
  explicit V1File(const std::string& path) : path_(path), file_(path) { scan(); }

  std::int64_t size() const override { return first_record_.back(); }
  Bytes record(std::int64_t index) override;
  std::size_t chunk_count() const override { return chunks_.size(); }
  RecordIOChunk chunk(std::size_t number) const override { return chunks_[number]; }
  std::uint64_t verify(std::size_t number) override { return content(number).payload.size(); }
  int version() const override { return 1; }
  const RecordIOMetadata& metadata() const override { return metadata_; }

 private:
  void scan();
  const Content& content(std::size_t number);
  [[noreturn]] void damaged(std::size_t number, std::uint64_t offset, const std::string& reason) const;

  std::string path_;
  MappedFile file_;
  std::deque<Chunk> chunks_;                // a Chunk cannot move
  std::vector<std::int64_t> first_record_;  // of each chunk, and the total
  RecordIOMetadata metadata_;
};

void V1File::damaged(std::size_t number, std::uint64_t offset, const std::string& reason) const {
  throw Error(ErrorCode::kDataLoss, path_ + ": chunk " + std::to_string(number) + " at byte " + std::to_string(offset) +
                                        " is damaged: " + reason +
                                        "; restore the file, or keep its good chunks with `tandem record repair`");
}

void V1File::scan() {
  const Bytes bytes = file_.bytes();
  std::int64_t records = 0;
  std::uint64_t at = 0;
  first_record_.push_back(0);
  while (at < bytes.size()) {
    const std::size_t number = chunks_.size();
    const Bytes rest = bytes.subspan(at);
    if (number == 0 && !(rest.size() >= 4 && load_u32(rest.data()) == kMagic)) {
      const std::string guess = guess_other_format(bytes);
      throw Error(ErrorCode::kDataLoss,
                  path_ + ": chunk 0 at byte 0 has a wrong magic number: this is not a RecordIO file" +
                      (guess.empty() ? "" : "; " + guess));
    }
    ChunkHeader header;
    try {
      header = decode_header(rest);
    } catch (const Damaged& what) {
      if (const std::string guess = number == 0 ? guess_other_format(bytes) : ""; !guess.empty()) {
        throw Error(ErrorCode::kDataLoss, path_ + ": chunk 0 at byte 0 is not RecordIO v1; " + guess);
      }
      damaged(number, at, what.reason);
    }
    Chunk& chunk = chunks_.emplace_back();
    chunk.offset = at;
    chunk.stored_size = header.stored_size;
    chunk.compressor = header.compressor;
    chunk.first_record = records;
    chunk.records = header.records;
    chunk.checksum = header.checksum;
    records += header.records;
    first_record_.push_back(records);
    at += kHeaderBytes + header.stored_size;
  }
}

const Content& V1File::content(std::size_t number) {
  Chunk& chunk = chunks_[number];
  return chunk.content.get([&] {
    const Bytes stored = file_.bytes().subspan(chunk.offset + kHeaderBytes, chunk.stored_size);
    Content content;
    try {
      check_payload(stored, chunk.checksum);
      content.payload = decompress(stored, chunk.compressor, content.decompressed);
      content.offsets = index_records(content.payload, static_cast<std::uint32_t>(chunk.records));
    } catch (const Damaged& what) {
      damaged(number, chunk.offset, what.reason);
    }
    return content;
  });
}

Bytes V1File::record(std::int64_t index) {
  const auto next = std::upper_bound(first_record_.begin(), first_record_.end(), index);
  const auto number = static_cast<std::size_t>(next - first_record_.begin()) - 1;
  const Content& chunk = content(number);
  const auto i = static_cast<std::size_t>(index - first_record_[number]);
  return chunk.payload.subspan(chunk.offsets[i], chunk.offsets[i + 1] - 4 - chunk.offsets[i]);
}

}  // namespace

std::unique_ptr<RecordFile> open_v1(const std::string& path) {
  return std::make_unique<V1File>(path);
}

}  // namespace tandem::recordio
