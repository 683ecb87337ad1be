#include <algorithm>

#include "data/recordio/record_file.h"
#include "data/recordio/v1_index.h"
#include "data/recordio/v2_format.h"
#include "tandem/error.h"

namespace tandem {

using namespace recordio;

namespace recordio {

std::unique_ptr<RecordFile> open_record_file(std::shared_ptr<DataFile> file, const RecordIOReaderOptions& options,
                                             std::shared_ptr<ContentCache> cache) {
  const std::uint64_t size = std::min<std::uint64_t>(file->size(), v2::kMagic.size());
  const bool is_v2 = std::ranges::equal(file->read(0, size).bytes, v2::kMagic);
  return is_v2 ? open_v2(std::move(file), std::move(cache)) : open_v1(std::move(file), options, std::move(cache));
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
    throw Error(ErrorCode::kOutOfRange, impl_->path + " has " + std::to_string(size()) +
                                            " records; there is no record " + std::to_string(index));
  }
  return impl_->file->record(index).bytes;
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
    throw Error(ErrorCode::kOutOfRange, impl_->path + " has " + std::to_string(chunk_count()) +
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
