#include <array>
#include <fstream>

#include "data/recordio/record_file.h"
#include "data/recordio/v2_format.h"
#include "tandem/error.h"

namespace tandem {

using namespace recordio;

namespace {

// What cannot be read at all is said by whoever maps the file.
bool begins_as_v2(const std::string& path) {
  std::array<std::uint8_t, v2::kMagic.size()> magic{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(magic.data()), magic.size());
  return magic == v2::kMagic;
}

}  // namespace

struct RecordIOReader::Impl {
  explicit Impl(const std::string& name) : path(name), file(begins_as_v2(name) ? open_v2(name) : open_v1(name)) {}

  std::string path;
  std::unique_ptr<RecordFile> file;
};

RecordIOReader::RecordIOReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}

RecordIOReader::~RecordIOReader() = default;

std::int64_t RecordIOReader::size() const {
  return impl_->file->size();
}

std::span<const std::uint8_t> RecordIOReader::operator[](std::int64_t index) {
  if (index < 0 || index >= size()) {
    throw Error(ErrorCode::kOutOfRange, impl_->path + " has " + std::to_string(size()) +
                                            " records; there is no record " + std::to_string(index));
  }
  return impl_->file->record(index);
}

const std::string& RecordIOReader::path() const {
  return impl_->path;
}

int RecordIOReader::version() const {
  return impl_->file->version();
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

}  // namespace tandem
