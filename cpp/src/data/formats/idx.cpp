#include "data/formats/idx.h"

#include <algorithm>
#include <cstdio>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "data/formats/formats.h"
#include "data/formats/gunzip.h"
#include "tandem/error.h"

namespace tandem::formats {
namespace {

constexpr std::uint64_t kMostItemBytes = 64u << 20;
constexpr std::size_t kMostDimensions = 8;

// 0 for a type that there is not.
std::uint64_t bytes_of_type(std::uint8_t type) {
  switch (type) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0b:
      return 2;
    case 0x0c:
    case 0x0d:
      return 4;
    case 0x0e:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

bool is_idx(Bytes begin) {
  return begin.size() >= 4 && begin[0] == 0 && begin[1] == 0 && bytes_of_type(begin[2]) != 0 && begin[3] >= 1 &&
         begin[3] <= kMostDimensions;
}

std::optional<std::uint64_t> declared_idx_bytes(Bytes begin) {
  const std::size_t dimensions = begin[3];
  if (begin.size() < 4 + 4 * dimensions) return {};
  std::uint64_t bytes = bytes_of_type(begin[2]);
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (__builtin_mul_overflow(bytes, std::uint64_t{load_big_u32(begin.data() + 4 + 4 * i)}, &bytes)) return {};
  }
  return bytes + 4 + 4 * dimensions;
}

bool is_gzipped_idx(Bytes begin) {
  if (!is_gzip(begin)) return false;
  std::string ignored;
  return is_idx(gunzip(begin, 4, ignored));
}

IdxFile::IdxFile(std::shared_ptr<DataFile> file) : file_(std::move(file)) {
  open(0, "files");
}

IdxFile::IdxFile(std::shared_ptr<DataFile> file, std::size_t dimensions, const std::string& kind)
    : file_(std::move(file)) {
  open(dimensions, kind);
}

void IdxFile::open(std::size_t dimensions, const std::string& kind) {
  constexpr std::uint64_t kMostHeader = 4 + 4 * kMostDimensions;
  const Record begin = file_->read(0, std::min<std::uint64_t>(file_->size(), 2));
  std::string problem;
  Record compressed;
  std::vector<std::uint8_t> head;
  if (is_gzip(begin.bytes)) {
    compressed = file_->read(0, file_->size());
    head = gunzip(compressed.bytes, kMostHeader, problem);
  } else {
    const Record plain = file_->read(0, std::min(file_->size(), kMostHeader));
    head.assign(plain.bytes.begin(), plain.bytes.end());
  }
  const auto fail = [&](const std::string& what) { throw_damaged(*file_, problem.empty() ? what : problem); };
  if (head.size() < 4) fail("it is too short for an IDX file");
  if (dimensions > 0) {
    const std::uint32_t expected = 0x0800 | static_cast<std::uint32_t>(dimensions);
    if (const std::uint32_t magic = load_big_u32(head.data()); magic != expected) {
      char text[96];
      std::snprintf(text, sizeof text, "its magic number is 0x%08x, but IDX %s begin with 0x%08x", magic, kind.c_str(),
                    expected);
      throw_damaged(*file_, text);
    }
  }
  if (!is_idx(head)) throw_damaged(*file_, "it does not begin with the magic number of IDX");
  dimensions = head[3];
  element_bytes_ = bytes_of_type(head[2]);
  header_bytes_ = 4 + 4 * dimensions;
  if (head.size() < header_bytes_) fail("it ends inside its header");
  item_bytes_ = element_bytes_;
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes_.push_back(load_big_u32(head.data() + 4 + 4 * i));
    if (i > 0) item_bytes_ *= sizes_.back();
    if (item_bytes_ > kMostItemBytes || item_bytes_ == 0) {
      throw_damaged(*file_, "its header declares items of an impossible size");
    }
  }
  const std::uint64_t declared = header_bytes_ + item_bytes_ * sizes_[0];
  std::uint64_t there = file_->size();
  if (compressed.bytes.data()) {
    auto decompressed = std::make_shared<std::vector<std::uint8_t>>(gunzip(compressed.bytes, declared + 1, problem));
    if (!problem.empty()) throw_damaged(*file_, problem);
    there = decompressed->size();
    decompressed_ = std::move(decompressed);
  }
  if (there < declared) {
    throw_damaged(*file_, "its header declares " + std::to_string(sizes_[0]) + " items, but it ends inside item " +
                              std::to_string((there - header_bytes_) / item_bytes_));
  }
  if (there > declared) {
    throw_damaged(*file_, "it has bytes after the " + std::to_string(sizes_[0]) + " items of its header");
  }
}

Record IdxFile::bytes(std::uint64_t offset, std::uint64_t length) const {
  if (decompressed_) return {Bytes(*decompressed_).subspan(offset, length), decompressed_};
  return file_->read(offset, length);
}

Record IdxFile::item(std::int64_t index) const {
  return bytes(header_bytes_ + static_cast<std::uint64_t>(index) * item_bytes_, item_bytes_);
}

// The format has no checksums: the first items count.
std::uint64_t IdxFile::fingerprint() const {
  Fingerprint fingerprint;
  for (const std::uint32_t size : sizes_) fingerprint.add(size);
  fingerprint.add(element_bytes_);
  const std::uint64_t some = std::min<std::uint64_t>(item_bytes_ * sizes_[0], 1u << 16);
  fingerprint.add(crc32c(bytes(header_bytes_, some).bytes));
  return fingerprint.value();
}

namespace {

class IdxSource : public RecordSource {
 public:
  explicit IdxSource(std::shared_ptr<DataFile> file) : file_(std::move(file)) {}

  std::int64_t size() const override { return file_.items(); }
  Record read(std::int64_t index) override {
    Record item = file_.item(index);
    const std::uint64_t width = file_.element_bytes();
    if (width == 1) return item;
    NewRecord swapped(item.bytes.size());  // fields of records are little-endian
    for (std::size_t i = 0; i < item.bytes.size(); ++i)
      swapped.bytes[i] = item.bytes[i / width * width + width - 1 - i % width];
    return swapped;
  }
  std::string place(std::int64_t index) const override { return file_.name() + ", item " + std::to_string(index); }
  std::uint64_t fingerprint() const override { return file_.fingerprint(); }

 private:
  const IdxFile file_;
};

class MnistSource : public RecordSource {
 public:
  MnistSource(std::shared_ptr<DataFile> images, std::shared_ptr<DataFile> labels)
      : images_(std::move(images), 3, "images"), labels_(std::move(labels), 1, "labels") {
    if (images_.items() != labels_.items()) {
      throw Error(ErrorCode::kDataLoss, images_.name() + " has " + std::to_string(images_.items()) + " images, but " +
                                            labels_.name() + " has " + std::to_string(labels_.items()) +
                                            " labels: they do not belong together");
    }
  }

  std::int64_t size() const override { return images_.items(); }
  Record read(std::int64_t index) override {
    const Record image = images_.item(index), label = labels_.item(index);
    NewRecord record(1 + image.bytes.size());
    record.bytes[0] = label.bytes[0];
    std::ranges::copy(image.bytes, record.bytes.begin() + 1);
    return record;
  }
  std::string place(std::int64_t index) const override { return images_.name() + ", item " + std::to_string(index); }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    fingerprint.add(images_.fingerprint());
    fingerprint.add(labels_.fingerprint());
    return fingerprint.value();
  }

 private:
  const IdxFile images_, labels_;
};

}  // namespace

std::unique_ptr<RecordSource> open_idx(std::shared_ptr<DataFile> file) {
  return std::make_unique<IdxSource>(std::move(file));
}

std::unique_ptr<RecordSource> open_mnist(std::shared_ptr<DataFile> images, std::shared_ptr<DataFile> labels) {
  return std::make_unique<MnistSource>(std::move(images), std::move(labels));
}

}  // namespace tandem::formats
