#include "tandem/open_records.h"

#include <algorithm>
#include <cstdio>

#include "base/fingerprint.h"
#include "base/lost_pages.h"
#include "data/data_file.h"
#include "data/formats/detect.h"
#include "data/formats/formats.h"
#include "data/recordio/record_file.h"
#include "tandem/error.h"

namespace tandem {
namespace {

struct Named {
  RecordFormat format;
  std::string name;
};

const std::vector<Named>& named_formats() {
  static const std::vector<Named> named = {
      {RecordFormat::kDetect, "detect"},     {RecordFormat::kRecordIO, "recordio"},
      {RecordFormat::kPaddle, "paddle"},     {RecordFormat::kPyRecordIO, "pyrecordio"},
      {RecordFormat::kTFRecord, "tfrecord"}, {RecordFormat::kDmlc, "dmlc"},
      {RecordFormat::kTar, "tar"},           {RecordFormat::kIdx, "idx"},
      {RecordFormat::kMnist, "mnist"},       {RecordFormat::kCifar10, "cifar10"},
      {RecordFormat::kCifar100, "cifar100"}, {RecordFormat::kLines, "lines"},
      {RecordFormat::kCsv, "csv"},           {RecordFormat::kNdjson, "ndjson"}};
  return named;
}

class RecordIOSource : public RecordSource {
 public:
  RecordIOSource(std::string name, std::unique_ptr<recordio::RecordFile> file)
      : name_(std::move(name)), file_(std::move(file)) {}

  std::int64_t size() const override { return file_->size(); }
  Record read(std::int64_t index) override { return file_->record(index); }
  std::string place(std::int64_t index) const override {
    const std::size_t chunk = file_->chunk_of(index);
    return name_ + ", chunk " + std::to_string(chunk) + ", record " +
           std::to_string(index - file_->chunk(chunk).first_record);
  }
  std::uint64_t fingerprint() const override { return file_->fingerprint(); }

 private:
  const std::string name_;
  const std::unique_ptr<recordio::RecordFile> file_;
};

// All but the first records of another.
class Skipped : public RecordSource {
 public:
  Skipped(std::unique_ptr<RecordSource> all, std::int64_t skip)
      : all_(std::move(all)), skip_(std::min(skip, all_->size())) {}

  std::int64_t size() const override { return all_->size() - skip_; }
  Record read(std::int64_t index) override { return all_->read(index + skip_); }
  std::string place(std::int64_t index) const override { return all_->place(index + skip_); }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    fingerprint.add(all_->fingerprint());
    fingerprint.add(static_cast<std::uint64_t>(skip_));
    return fingerprint.value();
  }

 private:
  const std::unique_ptr<RecordSource> all_;
  const std::int64_t skip_;
};

// One after another.
class Joined : public RecordSource {
 public:
  explicit Joined(std::vector<std::unique_ptr<RecordSource>> parts) : parts_(std::move(parts)) {
    for (const auto& part : parts_) {
      begins_.push_back(size_);
      size_ += part->size();
    }
  }

  std::int64_t size() const override { return size_; }
  Record read(std::int64_t index) override {
    const std::size_t part = part_of(index);
    return parts_[part]->read(index - begins_[part]);
  }
  std::string place(std::int64_t index) const override {
    const std::size_t part = part_of(index);
    return parts_[part]->place(index - begins_[part]);
  }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    for (const auto& part : parts_) {
      fingerprint.add(static_cast<std::uint64_t>(part->size()));
      fingerprint.add(part->fingerprint());
    }
    return fingerprint.value();
  }

 private:
  std::size_t part_of(std::int64_t index) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(begins_, index) - begins_.begin()) - 1;
  }

  const std::vector<std::unique_ptr<RecordSource>> parts_;
  std::vector<std::int64_t> begins_;
  std::int64_t size_ = 0;
};

RecordFormat find_format(DataFile& file) {
  if (const auto format = detect_format(file)) return *format;
  const Record begin = file.read(0, std::min<std::uint64_t>(file.size(), 8));
  std::string shown;
  for (const std::uint8_t byte : begin.bytes) {
    char text[4];
    std::snprintf(text, sizeof text, " %02x", byte);
    shown += text;
  }
  const bool gzip = begin.bytes.size() >= 2 && begin.bytes[0] == 0x1f && begin.bytes[1] == 0x8b;
  throw Error(ErrorCode::kInvalidArgument,
              file.name() + " is in no format that can be told from its content: it begins with" + shown +
                  (gzip ? ", which is gzip; decompress it first" : "; say which format it is in"));
}

std::unique_ptr<RecordSource> open_file(std::shared_ptr<DataFile> file, const OpenRecordsOptions& options,
                                        const std::shared_ptr<LruCache>& cache) {
  const RecordFormat format = options.format == RecordFormat::kDetect ? find_format(*file) : options.format;
  RecordIOReaderOptions recordio;
  recordio.index = options.index;
  recordio.most_chunk_bytes = options.most_chunk_bytes;
  switch (format) {
    case RecordFormat::kDetect:
    case RecordFormat::kMnist:  // is of two files
      break;
    case RecordFormat::kPaddle:
      recordio.dialect = RecordIODialect::kPaddle;
      [[fallthrough]];
    case RecordFormat::kPyRecordIO:
      if (format == RecordFormat::kPyRecordIO) recordio.dialect = RecordIODialect::kPyRecordIO;
      [[fallthrough]];
    case RecordFormat::kRecordIO: {
      const std::string name = file->name();
      return std::make_unique<RecordIOSource>(name, recordio::open_record_file(std::move(file), recordio, cache));
    }
    case RecordFormat::kTFRecord:
      return formats::open_tfrecord(std::move(file));
    case RecordFormat::kDmlc:
      return formats::open_dmlc(std::move(file));
    case RecordFormat::kTar:
      return formats::open_tar(std::move(file));
    case RecordFormat::kIdx:
      return formats::open_idx(std::move(file));
    case RecordFormat::kCifar10:
    case RecordFormat::kCifar100:
      return formats::open_cifar(std::move(file), format);
    case RecordFormat::kLines:
    case RecordFormat::kCsv:
    case RecordFormat::kNdjson:
      return formats::open_lines(std::move(file), format);
  }
  throw Error(ErrorCode::kInvalidArgument, "there is no format of records " + std::to_string(static_cast<int>(format)));
}

}  // namespace

RecordFormat record_format(const std::string& name) {
  std::string all;
  for (const Named& named : named_formats()) {
    if (named.name == name) return named.format;
    all += (all.empty() ? "" : ", ") + named.name;
  }
  throw Error(ErrorCode::kInvalidArgument, "there is no format '" + name + "' of records; choose one of " + all);
}

const std::string& record_format_name(RecordFormat format) {
  const auto found = std::ranges::find(named_formats(), format, &Named::format);
  if (found == named_formats().end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "there is no format of records " + std::to_string(static_cast<int>(format)));
  }
  return found->name;
}

std::vector<std::string> record_format_names() {
  std::vector<std::string> names;
  for (const Named& named : named_formats()) names.push_back(named.name);
  return names;
}

RecordFormat detect_record_format(const std::string& path) {
  return find_format(*open_data_file(path));
}

std::unique_ptr<RecordSource> open_records(const std::vector<std::string>& paths, const OpenRecordsOptions& options) {
  if (options.skip < 0) {
    throw Error(ErrorCode::kInvalidArgument, "skip is " + std::to_string(options.skip) + ", but must be at least 0");
  }
  const std::vector<std::string> files = expand_record_paths(paths);
  const bool pairs = options.format == RecordFormat::kMnist;
  if (pairs && files.size() % 2 != 0) {
    throw Error(ErrorCode::kInvalidArgument, "format mnist takes pairs of files, images and labels, but " +
                                                 std::to_string(files.size()) + " are given");
  }
  const auto cache = std::make_shared<LruCache>(options.cache_bytes);
  std::vector<std::unique_ptr<RecordSource>> parts;
  for (std::size_t i = 0; i < files.size(); i += pairs ? 2 : 1) {
    LostReads lost;
    const KeepLostPages keep;  // what is told from zeros would stay
    const auto file = open_data_file(files[i], options.remote, cache);
    const auto labels = pairs ? open_data_file(files[i + 1], options.remote, cache) : nullptr;
    const auto check = [&] {
      file->check(0, file->size());
      if (labels) labels->check(0, labels->size());
    };
    std::unique_ptr<RecordSource> part;
    try {
      part = pairs ? formats::open_mnist(file, labels) : open_file(file, options, cache);
    } catch (const Error&) {
      if (lost.any()) check();
      throw;
    }
    if (lost.any()) check();
    if (options.skip > 0) part = std::make_unique<Skipped>(std::move(part), options.skip);
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<Joined>(std::move(parts));
}

}  // namespace tandem
