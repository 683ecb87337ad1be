#include <bit>

#include "data/recordio/record_sink.h"
#include "data/recordio/v2_chunks.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace v2 {
namespace {

class V2Sink : public RecordSink {
 public:
  V2Sink(AtomicFile& file, const RecordIOWriterOptions& options, std::string metadata)
      : file_(file), options_(options), chunks_(file, std::move(metadata)) {}

  void add(Bytes record) override {
    if (record.size() > kMostContent - 2 * kBlock) {
      throw Error(ErrorCode::kInvalidArgument, "a record of " + std::to_string(record.size()) +
                                                   " bytes does not fit into " + file_.path() +
                                                   ": a chunk's limit is 4 GiB");
    }
    const std::uint64_t begin = padded(data_.size(), options_.alignment);
    const std::uint64_t table = padded(8 * (ends_.size() + 1), options_.alignment);
    if (table + begin + record.size() > options_.chunk_bytes) flush();
    data_.resize(padded(data_.size(), options_.alignment));
    data_.insert(data_.end(), record.begin(), record.end());
    ends_.push_back(data_.size());
  }

  void finish() override {
    flush();
    chunks_.finish();
  }

 private:
  void flush() {
    if (ends_.empty()) return;
    const std::uint64_t table = 8 * ends_.size(), begin = padded(table, options_.alignment);
    std::vector<std::uint8_t> content(begin + data_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      // Records without bytes at the front lie right behind the table.
      store_u64(content.data() + 8 * i, begin + ends_[i]);
    }
    std::copy(data_.begin(), data_.end(), content.begin() + static_cast<std::ptrdiff_t>(begin));
    std::vector<std::uint8_t> compressed;
    if (options_.compressor == Compressor::kZstd) compressed = zstd_compress(content, options_.level);
    const bool shrinks = !compressed.empty() && compressed.size() < content.size();
    chunks_.append(ends_.size(), shrinks ? Compressor::kZstd : Compressor::kNone, options_.alignment, content.size(),
                   shrinks ? compressed : content);
    data_.clear();
    ends_.clear();
  }

  AtomicFile& file_;
  const RecordIOWriterOptions options_;
  ChunkWriter chunks_;
  std::vector<std::uint8_t> data_;   // records, each on a multiple of the alignment
  std::vector<std::uint64_t> ends_;  // in `data_`
};

}  // namespace
}  // namespace v2

std::unique_ptr<RecordSink> v2_sink(AtomicFile& file, const RecordIOWriterOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, what + " (to write " + file.path() + ")");
  };
  if (options.compressor != Compressor::kNone && options.compressor != Compressor::kZstd) {
    refuse("compressor " + std::to_string(static_cast<std::uint32_t>(options.compressor)) +
           " is none of 0 (none), 3 (zstd), which RecordIO v2 has");
  }
  if (!std::has_single_bit(options.alignment) || options.alignment > v2::kBlock) {
    refuse("alignment " + std::to_string(options.alignment) + " is no power of two from 1 to 64");
  }
  if (options.level < 1 || options.level > 19) {
    refuse("level " + std::to_string(options.level) + " is not from 1 to 19");
  }
  std::string metadata;
  try {
    metadata = v2::encode_metadata(options.metadata);
  } catch (const Error& error) {
    refuse(error.what());
  }
  if (metadata.size() > v2::kMostMetadata) refuse("the metadata have more than 64 MiB");
  return std::make_unique<v2::V2Sink>(file, options, std::move(metadata));
}

}  // namespace tandem::recordio
