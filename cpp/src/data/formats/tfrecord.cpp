// TFRecord: for each record its length (u64), that length's checksum, the bytes, and theirs; checksums are masked
// CRC-32C. Source: tensorflow/core/lib/io/record_writer.h.
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "data/formats/formats.h"

namespace tandem::formats {
namespace {

constexpr std::uint64_t kBefore = 12, kAfter = 4;  // around the bytes of a record

class TFRecordSource : public RecordSource {
 public:
  explicit TFRecordSource(std::shared_ptr<DataFile> file) : file_(std::move(file)) { walk(); }

  std::int64_t size() const override { return static_cast<std::int64_t>(begins_.size()) - 1; }
  Record read(std::int64_t index) override;
  std::string place(std::int64_t index) const override {
    return file_->name() + ", record " + std::to_string(index) + " at byte " +
           std::to_string(begins_[static_cast<std::size_t>(index)] - kBefore);
  }
  std::uint64_t fingerprint() const override { return fingerprint_.value(); }

 private:
  void walk();

  const std::shared_ptr<DataFile> file_;
  std::vector<std::uint64_t> begins_;  // of records' bytes, and where the next would be
  Fingerprint fingerprint_;
};

void TFRecordSource::walk() {
  const std::uint64_t size = file_->size();
  fingerprint_.add(size);
  std::uint64_t at = 0;
  const auto fail = [&](const std::string& what) {
    throw_damaged(*file_, "record " + std::to_string(begins_.size()) + " at byte " + std::to_string(at) + " " + what);
  };
  while (at < size) {
    if (size - at < kBefore + kAfter) fail("is cut off");
    const Record header = file_->read(at, kBefore);
    if (load_u32(header.bytes.data() + 8) != masked_crc32c(header.bytes.first(8))) {
      fail("has a length whose checksum does not match");
    }
    const std::uint64_t length = load_u64(header.bytes.data());
    if (length > size - at - kBefore - kAfter)
      fail("declares " + std::to_string(length) + " bytes, past the file's end");
    begins_.push_back(at + kBefore);
    at += kBefore + length + kAfter;
    fingerprint_.add(at);
    fingerprint_.add(load_u32(file_->read(at - kAfter, kAfter).bytes.data()));
  }
  begins_.push_back(at + kBefore);
}

Record TFRecordSource::read(std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  const std::uint64_t length = begins_[i + 1] - kBefore - kAfter - begins_[i];
  Record whole = file_->read(begins_[i], length + kAfter);
  if (load_u32(whole.bytes.data() + length) != masked_crc32c(whole.bytes.first(length))) {
    throw_damaged(*file_, "record " + std::to_string(index) + " at byte " + std::to_string(begins_[i] - kBefore) +
                              " is damaged: its checksum does not match");
  }
  return {whole.bytes.first(length), std::move(whole.owner)};
}

}  // namespace

std::unique_ptr<RecordSource> open_tfrecord(std::shared_ptr<DataFile> file) {
  return std::make_unique<TFRecordSource>(std::move(file));
}

}  // namespace tandem::formats
