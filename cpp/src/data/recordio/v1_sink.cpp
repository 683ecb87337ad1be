#include <limits>

#include "base/crc32c.h"
#include "data/recordio/record_sink.h"
#include "data/recordio/v1_format.h"
#include "tandem/error.h"

namespace tandem::recordio {
namespace {

class V1Sink : public RecordSink {
 public:
  V1Sink(AtomicFile& file, const RecordIOWriterOptions& options)
      : file_(file), compressor_(options.compressor), chunk_bytes_(options.chunk_bytes) {}

  void add(Bytes record) override {
    if (record.size() > kMaxPayload - 4) {
      throw Error(ErrorCode::kInvalidArgument, "a record of " + std::to_string(record.size()) +
                                                   " bytes does not fit into " + file_.path() +
                                                   ": RecordIO's limit is 4 GiB");
    }
    if (payload_.size() + 4 + record.size() > chunk_bytes_) finish();
    append_u32(payload_, static_cast<std::uint32_t>(record.size()));
    payload_.insert(payload_.end(), record.begin(), record.end());
    ++records_;
  }

  void finish() override {
    if (records_ == 0) return;
    std::vector<std::uint8_t> compressed;
    Bytes stored = payload_;
    if (compressor_ == Compressor::kSnappy) stored = compressed = snappy_compress(payload_);
    if (compressor_ == Compressor::kGzip) stored = compressed = gzip_compress(payload_);
    if (stored.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a chunk of " + file_.path() + " does not shrink and exceeds RecordIO's limit of 4 GiB");
    }
    std::uint8_t header[kHeaderBytes];
    store_u32(header, kMagic);
    store_u32(header + 4, crc32(stored));
    store_u32(header + 8, static_cast<std::uint32_t>(compressor_));
    store_u32(header + 12, static_cast<std::uint32_t>(stored.size()));
    store_u32(header + 16, records_);
    file_.append(header, sizeof header);
    file_.append(stored.data(), stored.size());
    payload_.clear();
    records_ = 0;
  }

 private:
  AtomicFile& file_;
  const Compressor compressor_;
  const std::uint64_t chunk_bytes_;
  std::vector<std::uint8_t> payload_;
  std::uint32_t records_ = 0;
};

}  // namespace

std::unique_ptr<RecordSink> v1_sink(AtomicFile& file, const RecordIOWriterOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, what + " (to write " + file.path() + ")");
  };
  if (options.compressor > Compressor::kGzip) {
    refuse("compressor " + std::to_string(static_cast<std::uint32_t>(options.compressor)) +
           " is none of 0 (none), 1 (snappy), 2 (gzip), which RecordIO v1 has");
  }
  if (!options.metadata.schema.empty() || !options.metadata.user.empty()) {
    refuse("RecordIO v1 has no place for metadata; choose version 2");
  }
  return std::make_unique<V1Sink>(file, options);
}

}  // namespace tandem::recordio
