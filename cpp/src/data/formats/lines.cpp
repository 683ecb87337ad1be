// Text: a record is a line without its end, which is \n or \r\n.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "data/formats/formats.h"

namespace tandem::formats {
namespace {

constexpr std::uint64_t kWindow = 1u << 20;
constexpr std::uint8_t kByteOrderMark[] = {0xef, 0xbb, 0xbf};

class LineSource : public RecordSource {
 public:
  LineSource(std::shared_ptr<DataFile> file, RecordFormat format)
      : file_(std::move(file)), quotes_(format == RecordFormat::kCsv), keeps_empty_(format == RecordFormat::kLines) {
    walk();
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(begins_.size()); }
  Record read(std::int64_t index) override {
    const auto i = static_cast<std::size_t>(index);
    return file_->read(begins_[i], lengths_[i]);
  }
  std::string place(std::int64_t index) const override {
    return file_->name() + ", record " + std::to_string(index) + " at byte " +
           std::to_string(begins_[static_cast<std::size_t>(index)]);
  }
  std::uint64_t fingerprint() const override { return fingerprint_.value(); }

 private:
  void walk();
  void add(std::uint64_t begin, std::uint64_t end, bool carriage_return);

  const std::shared_ptr<DataFile> file_;
  const bool quotes_, keeps_empty_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> lengths_;
  Fingerprint fingerprint_;
};

void LineSource::add(std::uint64_t begin, std::uint64_t end, bool carriage_return) {
  const std::uint64_t length = end - begin - (carriage_return ? 1 : 0);
  if (length > std::numeric_limits<std::uint32_t>::max()) {
    throw_damaged(*file_, "the line at byte " + std::to_string(begin) + " has more than 4 GiB: it is no text");
  }
  if (length == 0 && !keeps_empty_) return;
  begins_.push_back(begin);
  lengths_.push_back(static_cast<std::uint32_t>(length));
}

void LineSource::walk() {
  const std::uint64_t size = file_->size();
  std::uint64_t begin = 0;  // of the line
  bool quoted = false;
  std::uint8_t last = 0;  // the byte before
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < size;) {
    const Record window = file_->read(at, std::min(kWindow, size - at));
    const Bytes bytes = window.bytes;
    checksum = crc32c(bytes, checksum);
    std::size_t i = 0;
    if (at == 0 && bytes.size() >= 3 && std::equal(bytes.begin(), bytes.begin() + 3, kByteOrderMark)) begin = i = 3;
    while (i < bytes.size()) {
      const std::uint8_t* const from = bytes.data() + i;
      if (quotes_) {
        const auto* const stop = std::find_if(from, bytes.data() + bytes.size(),
                                              [&](std::uint8_t c) { return c == '"' || (c == '\n' && !quoted); });
        i = static_cast<std::size_t>(stop - bytes.data());
        if (i < bytes.size() && *stop == '"') {
          quoted = !quoted;
          last = '"';
          ++i;
          continue;
        }
      } else {
        const void* const stop = std::memchr(from, '\n', bytes.size() - i);
        i = stop ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(stop) - bytes.data()) : bytes.size();
      }
      if (i == bytes.size()) break;
      if (i > 0) last = bytes[i - 1];
      add(begin, at + i, last == '\r' && at + i > begin);
      begin = at + ++i;
      last = '\n';
    }
    if (!bytes.empty()) last = bytes.back();
    at += bytes.size();
  }
  if (quoted) throw_damaged(*file_, "a quoted field of the record at byte " + std::to_string(begin) + " does not end");
  if (begin < size) add(begin, size, last == '\r');
  fingerprint_.add(size);
  fingerprint_.add(begins_.size());
  fingerprint_.add(checksum);
}

}  // namespace

std::unique_ptr<RecordSource> open_lines(std::shared_ptr<DataFile> file, RecordFormat format) {
  return std::make_unique<LineSource>(std::move(file), format);
}

}  // namespace tandem::formats
