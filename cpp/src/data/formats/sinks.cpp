#include "data/formats/sinks.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "data/formats/buffered.h"
#include "data/formats/dmlc.h"

namespace tandem::formats {
namespace {

using recordio::Bytes;

// Its layout: tfrecord.cpp.
class TFRecordSink final : public BufferedSink {
 public:
  using BufferedSink::BufferedSink;

 private:
  void put(Bytes record) override {
    std::array<std::uint8_t, 12> before{};
    store_u64(before.data(), record.size());
    store_u32(before.data() + 8, masked_crc32c(Bytes(before).first(8)));
    append(before);
    append(record);
    std::array<std::uint8_t, 4> after{};
    store_u32(after.data(), masked_crc32c(record));
    append(after);
  }
};

// Its layout: dmlc.cpp.
class DmlcSink final : public BufferedSink {
 public:
  explicit DmlcSink(AtomicFile& file) : BufferedSink(file) {
    const auto index = dmlc_index_path(file.path());
    std::error_code ignored;
    if (index && std::filesystem::exists(*index, ignored)) {
      throw Error(ErrorCode::kInvalidArgument, *index + " is there, and would say which records " + file.path() +
                                                   " has; move it away, or write a file of another name");
    }
  }

 private:
  static constexpr std::size_t kLongest = (1u << 29) - 1;

  void put(Bytes record) override {
    if (record.size() > kLongest)
      refuse("it has " + std::to_string(record.size()) + " bytes, and 2^29 - 1 are the limit");
    std::size_t begin = 0;
    bool first = true;
    for (std::size_t at = 0; at + 4 <= record.size(); at += 4) {
      if (load_u32(record.data() + at) != kDmlcMagic) continue;
      part(first ? 1 : 2, record.subspan(begin, at - begin));
      begin = at + 4;
      first = false;
    }
    part(first ? 0 : 3, record.subspan(begin));
  }

  void part(std::uint32_t kind, Bytes bytes) {
    std::array<std::uint8_t, 8> header{};
    store_u32(header.data(), kDmlcMagic);
    store_u32(header.data() + 4, kind << 29 | static_cast<std::uint32_t>(bytes.size()));
    append(header);
    append(bytes);
    const std::array<std::uint8_t, 3> padding{};
    append(Bytes(padding).first((4 - bytes.size() % 4) % 4));
  }
};

class LineSink final : public BufferedSink {
 public:
  LineSink(AtomicFile& file, RecordFormat format)
      : BufferedSink(file), quotes_(format == RecordFormat::kCsv), keeps_empty_(format == RecordFormat::kLines) {}

 private:
  void put(Bytes record) override {
    if (record.empty() && !keeps_empty_) refuse("it is empty, and empty lines are no records");
    bool quoted = false;
    for (const std::uint8_t byte : record) {
      if (quotes_ && byte == '"') quoted = !quoted;
      if (byte == '\n' && !quoted) refuse("it has the end of a line in it");
    }
    if (quoted) refuse("it ends within quotes");
    if (!record.empty() && record.back() == '\r')
      refuse("it ends with a carriage return, which belongs to a line's end");
    if (is_first_ && record.size() >= 3 && record[0] == 0xef && record[1] == 0xbb && record[2] == 0xbf) {
      refuse("it begins with a byte order mark, which belongs to the file");
    }
    is_first_ = false;
    append(record);
    append("\n");
  }

  const bool quotes_, keeps_empty_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<recordio::RecordSink> make_sink(RecordFormat format, AtomicFile& file) {
  switch (format) {
    case RecordFormat::kTFRecord:
      return std::make_unique<TFRecordSink>(file);
    case RecordFormat::kDmlc:
      return std::make_unique<DmlcSink>(file);
    case RecordFormat::kTar:
      return tar_sink(file);
    case RecordFormat::kLines:
    case RecordFormat::kCsv:
    case RecordFormat::kNdjson:
      return std::make_unique<LineSink>(file, format);
    default:
      throw Error(ErrorCode::kInvalidArgument, "the format '" + record_format_name(format) +
                                                   "' is only read; recordio, tfrecord, dmlc, tar, lines, csv and "
                                                   "ndjson are written");
  }
}

}  // namespace tandem::formats
