#include <limits>
#include <optional>

#include "data/atomic_file.h"
#include "data/recordio_format.h"
#include "tandem/error.h"
#include "tandem/recordio.h"

namespace tandem {

using namespace recordio;

struct RecordIOWriter::Impl {
  explicit Impl(const std::string& path) : file(std::in_place, path) {}

  void flush() {
    if (records == 0) return;
    std::vector<std::uint8_t> compressed;
    Bytes stored = payload;
    if (options.compressor == Compressor::kSnappy) stored = compressed = snappy_compress(payload);
    if (options.compressor == Compressor::kGzip) stored = compressed = gzip_compress(payload);
    if (stored.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a chunk of " + file->path() + " does not shrink and exceeds RecordIO's limit of 4 GiB");
    }
    std::uint8_t header[kHeaderBytes];
    store_u32(header, kMagic);
    store_u32(header + 4, crc32(stored));
    store_u32(header + 8, static_cast<std::uint32_t>(options.compressor));
    store_u32(header + 12, static_cast<std::uint32_t>(stored.size()));
    store_u32(header + 16, records);
    file->append(header, sizeof header);
    file->append(stored.data(), stored.size());
    payload.clear();
    records = 0;
  }

  RecordIOWriterOptions options;
  std::optional<AtomicFile> file;  // empty once closed or failed
  std::vector<std::uint8_t> payload;
  std::uint32_t records = 0;
  std::int64_t written = 0;
};

RecordIOWriter::RecordIOWriter(const std::string& path, const RecordIOWriterOptions& options) {
  if (options.chunk_bytes < 1 || options.chunk_bytes > (1u << 30)) {
    throw Error(ErrorCode::kInvalidArgument, "chunk_bytes is " + std::to_string(options.chunk_bytes) +
                                                 ", but must be from 1 to 1 GiB (to write " + path + ")");
  }
  if (options.compressor > Compressor::kGzip) {
    throw Error(ErrorCode::kInvalidArgument, "compressor " +
                                                 std::to_string(static_cast<std::uint32_t>(options.compressor)) +
                                                 " is none of 0 (none), 1 (snappy), 2 (gzip) (to write " + path + ")");
  }
  impl_ = std::make_unique<Impl>(path);
  impl_->options = options;
}

RecordIOWriter::~RecordIOWriter() = default;

void RecordIOWriter::write(const void* data, std::size_t size) {
  if (!impl_->file) throw Error(ErrorCode::kClosed, "this RecordIO writer is closed, or failed before");
  if (size > kMaxPayload - 4) {
    throw Error(ErrorCode::kInvalidArgument, "a record of " + std::to_string(size) + " bytes does not fit into " +
                                                 impl_->file->path() + ": RecordIO's limit is 4 GiB");
  }
  try {
    if (impl_->payload.size() + 4 + size > impl_->options.chunk_bytes) impl_->flush();
    append_u32(impl_->payload, static_cast<std::uint32_t>(size));
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    impl_->payload.insert(impl_->payload.end(), bytes, bytes + size);
    ++impl_->records;
    ++impl_->written;
  } catch (...) {
    impl_->file.reset();  // a file with a hole must never get its name
    throw;
  }
}

void RecordIOWriter::close() {
  if (!impl_->file) throw Error(ErrorCode::kClosed, "this RecordIO writer is closed, or failed before");
  try {
    impl_->flush();
    impl_->file->commit();
  } catch (...) {
    impl_->file.reset();
    throw;
  }
  impl_->file.reset();
}

std::int64_t RecordIOWriter::written() const {
  return impl_->written;
}

}  // namespace tandem
