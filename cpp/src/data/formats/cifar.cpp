#include "data/formats/cifar.h"

#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "data/formats/formats.h"

namespace tandem::formats {
namespace {

class CifarSource : public RecordSource {
 public:
  CifarSource(std::shared_ptr<DataFile> file, const CifarLayout& layout) : file_(std::move(file)), layout_(layout) {
    if (file_->size() % layout_.record_bytes != 0) {
      throw_damaged(*file_, "its " + std::to_string(file_->size()) + " bytes are no multiple of " +
                                std::to_string(layout_.record_bytes) + ", a CIFAR record's size: it is cut off");
    }
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(file_->size() / layout_.record_bytes); }
  Record read(std::int64_t index) override {
    Record record = file_->read(static_cast<std::uint64_t>(index) * layout_.record_bytes, layout_.record_bytes);
    if (!layout_.labels_possible(record.bytes)) {
      throw_damaged(*file_, "record " + std::to_string(index) + " has a label that CIFAR does not have");
    }
    return record;
  }
  std::string place(std::int64_t index) const override { return file_->name() + ", record " + std::to_string(index); }
  // The format has no checksums; sizes alone would let one batch of files pass for another, so some labels count.
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    fingerprint.add(file_->size());
    for (std::int64_t i = 0; i < std::min<std::int64_t>(size(), 100); ++i) {
      fingerprint.add(crc32c(file_->read(static_cast<std::uint64_t>(i) * layout_.record_bytes, 64).bytes));
    }
    return fingerprint.value();
  }

 private:
  const std::shared_ptr<DataFile> file_;
  const CifarLayout& layout_;
};

}  // namespace

std::unique_ptr<RecordSource> open_cifar(std::shared_ptr<DataFile> file, RecordFormat format) {
  return std::make_unique<CifarSource>(std::move(file),
                                       format == RecordFormat::kCifar10 ? kCifar10Layout : kCifar100Layout);
}

}  // namespace tandem::formats
