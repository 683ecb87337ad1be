#include <mutex>
#include <optional>

#include "base/shown_path.h"
#include "data/recordio/record_sink.h"
#include "tandem/error.h"

namespace tandem {

using namespace recordio;

struct RecordIOWriter::Impl {
  Impl(const std::string& path, const RecordIOWriterOptions& options)
      : file(std::in_place, path), sink(options.version == 1 ? v1_sink(*file, options) : v2_sink(*file, options)) {}

  void check_open() const {
    if (!file) throw Error(ErrorCode::kClosed, "this RecordIO writer is closed, or failed before");
  }

  mutable std::mutex mutex;
  std::optional<AtomicFile> file;  // empty once closed or failed
  std::unique_ptr<RecordSink> sink;
  std::int64_t written = 0;
};

RecordIOWriter::RecordIOWriter(const std::string& path, const RecordIOWriterOptions& options) {
  if (options.version != 1 && options.version != 2) {
    throw Error(ErrorCode::kInvalidArgument, "there is no RecordIO version " + std::to_string(options.version) +
                                                 "; choose 1 or 2 (to write " + shown_path(path) + ")");
  }
  if (options.chunk_bytes < 1 || options.chunk_bytes > (1u << 30)) {
    throw Error(ErrorCode::kInvalidArgument, "chunk_bytes is " + std::to_string(options.chunk_bytes) +
                                                 ", but must be from 1 to 1 GiB (to write " + shown_path(path) + ")");
  }
  impl_ = std::make_unique<Impl>(path, options);
}

RecordIOWriter::~RecordIOWriter() = default;

void RecordIOWriter::write(const void* data, std::size_t size) {
  const std::lock_guard lock(impl_->mutex);
  impl_->check_open();
  try {
    impl_->sink->add({static_cast<const std::uint8_t*>(data), size});
    ++impl_->written;
  } catch (const Error& error) {
    // A record that is too long leaves the file as it was; any other failure a hole, and it must never get its name.
    if (error.code() != ErrorCode::kInvalidArgument) impl_->file.reset();
    throw;
  } catch (...) {
    impl_->file.reset();
    throw;
  }
}

void RecordIOWriter::close() {
  const std::lock_guard lock(impl_->mutex);
  impl_->check_open();
  try {
    impl_->sink->finish();
    impl_->file->commit();
  } catch (...) {
    impl_->file.reset();
    throw;
  }
  impl_->file.reset();
}

std::int64_t RecordIOWriter::written() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->written;
}

}  // namespace tandem
