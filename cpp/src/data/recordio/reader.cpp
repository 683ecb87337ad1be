#include <algorithm>

#include "base/lost_pages.h"
#include "base/shown_path.h"
#include "data/recordio/record_file.h"
#include "data/recordio/v1_index.h"
#include "data/recordio/v2_format.h"
#include "tandem/error.h"

namespace tandem {

using namespace recordio;

namespace recordio {

std::unique_ptr<RecordFile> open_record_file(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                             std::shared_ptr<LruCache> cache) {
  const std::uint64_t size = std::min<std::uint64_t>(file->size(), v2::kMagic.size());
  const bool is_v2 = std::ranges::equal(file->read(0, size).bytes, v2::kMagic);
  return is_v2 ? open_v2(std::move(file), options, std::move(cache))
               : open_v1(std::move(file), options, std::move(cache));
}

void throw_too_large(const std::string& file, std::uint64_t number, std::uint64_t offset, std::uint64_t bytes,
                     std::uint64_t most) {
  throw Error(ErrorCode::kUnsupported,
              file + ": chunk " + std::to_string(number) + " at byte " + std::to_string(offset) + " would take " +
                  std::to_string(bytes) + " bytes once it is decompressed, more than most_chunk_bytes, " +
                  std::to_string(most) + "; raise that option, the tool's --most-chunk-mb, if you trust the file");
}

Record to_keep(Record read) {
  constexpr std::size_t kFetched = 4u << 20;  // a block of a remote file; longer parts have memory of their own
  if (!read.owner || read.bytes.size() >= kFetched) return read;
  const auto memory = std::make_shared<Buffer>(allocate(read.bytes.size()));
  std::ranges::copy(read.bytes, memory->data.get());
  return {{memory->data.get(), memory->size}, memory};
}

}  // namespace recordio

struct RecordIOReader::Impl {
  Impl(const std::string& name, const RecordIOReaderOptions& options)
      : path(name), file(open_record_file(open_data_file(name), options, nullptr)) {}

  std::string path;
  std::unique_ptr<RecordFile> file;
};

RecordIOReader::RecordIOReader(const std::string& path, const RecordIOReaderOptions& options)
    : impl_(std::make_unique<Impl>(path, options)) {}

RecordIOReader::~RecordIOReader() = default;

std::int64_t RecordIOReader::size() const {
  return impl_->file->size();
}

std::span<const std::uint8_t> RecordIOReader::operator[](std::int64_t index) {
  if (index < 0 || index >= size()) {
    throw Error(ErrorCode::kOutOfRange, shown_path(impl_->path) + " has " + std::to_string(size()) +
                                            " records; there is no record " + std::to_string(index));
  }
  return impl_->file->record(index).bytes;
}

void RecordIOReader::copy(std::int64_t index, std::span<std::uint8_t> destination) {
  const std::size_t bytes = without_lost_pages([&] {
    const auto record = (*this)[index];
    if (record.size() == destination.size()) std::ranges::copy(record, destination.begin());
    return record.size();
  });
  if (bytes != destination.size()) {
    throw Error(ErrorCode::kInvalidArgument, "record " + std::to_string(index) + " of " + shown_path(impl_->path) +
                                                 " has " + std::to_string(bytes) + " bytes, but the destination has " +
                                                 std::to_string(destination.size()));
  }
}

const std::string& RecordIOReader::path() const {
  return impl_->path;
}

int RecordIOReader::version() const {
  return impl_->file->version();
}

RecordIODialect RecordIOReader::dialect() const {
  return impl_->file->dialect();
}

const RecordIOMetadata& RecordIOReader::metadata() const {
  return impl_->file->metadata();
}

std::size_t RecordIOReader::chunk_count() const {
  return impl_->file->chunk_count();
}

RecordIOChunk RecordIOReader::chunk(std::size_t number) const {
  if (number >= chunk_count()) {
    throw Error(ErrorCode::kOutOfRange, shown_path(impl_->path) + " has " + std::to_string(chunk_count()) +
                                            " chunks; there is no chunk " + std::to_string(number));
  }
  return impl_->file->chunk(number);
}

std::uint64_t RecordIOReader::verify(std::size_t number) {
  chunk(number);
  return impl_->file->verify(number);
}

std::size_t write_recordio_index(const std::string& path, const RecordIOReaderOptions& options) {
  const auto file = open_data_file(path);
  const auto opened = open_record_file(file, {options.dialect, /*index=*/false}, nullptr);
  if (opened->version() == 1) save_index(*file, walk_chunks(*file, opened->dialect()));
  return opened->chunk_count();
}

}  // namespace tandem
