// RecordIO of dmlc-core and MXNet. A record is one part or several; a part is the magic number, a u32 of which the
// upper 3 bits say which part of a record it is and the lower 29 its length, and the bytes, padded to a multiple of 4.
// A record is cut where its bytes have the magic number at a multiple of 4, and those four bytes are left out. Source:
// dmlc-core, include/dmlc/recordio.h.
#include "data/formats/dmlc.h"
#include "base/bytes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/fingerprint.h"
#include "data/formats/formats.h"
#include "tandem/error.h"

namespace tandem::formats {
namespace {

constexpr std::uint64_t kPartHeader = 8;

enum PartKind : std::uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

struct RecordPart {
  std::uint32_t kind;
  std::uint64_t begin;  // of its bytes
  std::uint64_t length;

  std::uint64_t end() const { return begin + (length + 3) / 4 * 4; }
  bool begins_record() const { return kind == kWhole || kind == kFirst; }
  bool ends_record() const { return kind == kWhole || kind == kLast; }
};

class DmlcSource : public RecordSource {
 public:
  explicit DmlcSource(std::shared_ptr<DataFile> file);

  std::int64_t size() const override { return static_cast<std::int64_t>(begins_.size()); }
  Record read(std::int64_t index) override;
  std::string place(std::int64_t index) const override {
    return file_->name() + ", record " + std::to_string(index) + " at byte " +
           std::to_string(begins_[static_cast<std::size_t>(index)]);
  }
  std::uint64_t fingerprint() const override;

 private:
  // The part at `at`, which follows one of the same record or not.
  RecordPart part(std::uint64_t at, bool continues) const;
  void walk();
  void read_index(DataFile& index);
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw_damaged(*file_, "the record part at byte " + std::to_string(at) + " " + what + index_remedy_);
  }

  const std::shared_ptr<DataFile> file_;
  std::vector<std::uint64_t> begins_;  // of records' first parts
  std::string index_remedy_;
};

std::shared_ptr<DataFile> find_index(const DataFile& file) {
  const auto path = dmlc_index_path(file.path());
  if (!path) return nullptr;
  try {
    return file.open_other(*path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    return nullptr;
  }
}

DmlcSource::DmlcSource(std::shared_ptr<DataFile> file) : file_(std::move(file)) {
  if (const auto index = find_index(*file_)) {
    index_remedy_ = ", or remove " + index->name() + " if it belongs to another file";
    read_index(*index);
  } else {
    walk();
  }
}

RecordPart DmlcSource::part(std::uint64_t at, bool continues) const {
  const std::uint64_t size = file_->size();
  if (at > size || size - at < kPartHeader) fail(at, "is cut off");
  const Record header = file_->read(at, kPartHeader);
  if (load_u32(header.bytes.data()) != kDmlcMagic) fail(at, "has a wrong magic number");
  const std::uint32_t word = load_u32(header.bytes.data() + 4);
  const RecordPart part{word >> 29, at + kPartHeader, word & 0x1fffffff};
  if (part.kind > kLast || part.begins_record() == continues) fail(at, "is not one that can stand there");
  if (part.end() > size) fail(at, "declares " + std::to_string(part.length) + " bytes, past the file's end");
  return part;
}

void DmlcSource::walk() {
  bool continues = false;
  for (std::uint64_t at = 0; at < file_->size();) {
    const RecordPart next = part(at, continues);
    if (!continues) begins_.push_back(at);
    continues = !next.ends_record();
    at = next.end();
  }
  if (continues) fail(begins_.back(), "begins a record that does not end");
}

// Lines of a key and an offset.
void DmlcSource::read_index(DataFile& index) {
  const Record whole = index.read(0, index.size());
  const char* at = reinterpret_cast<const char*>(whole.bytes.data());
  const char* const end = at + whole.bytes.size();
  while (at < end) {
    const char* const line_end = std::find(at, end, '\n');
    const char* const tab = std::find(at, line_end, '\t');
    std::uint64_t offset = 0;
    const auto parsed = tab < line_end ? std::from_chars(tab + 1, line_end, offset) : std::from_chars_result{at, {}};
    const bool whole_line = parsed.ptr == line_end || (parsed.ptr + 1 == line_end && *parsed.ptr == '\r');
    if (tab == line_end || parsed.ec != std::errc() || !whole_line || offset % 4 != 0 ||
        offset > file_->size() - std::min(file_->size(), kPartHeader)) {
      throw Error(ErrorCode::kDataLoss, index.name() + ": line " + std::to_string(begins_.size() + 1) +
                                            " is no key, tab and place of a record in " + file_->name() +
                                            "; make the index anew, or remove it");
    }
    begins_.push_back(offset);
    at = line_end + (line_end < end);
  }
}

Record DmlcSource::read(std::int64_t index) {
  std::uint64_t at = begins_[static_cast<std::size_t>(index)];
  RecordPart next = part(at, false);
  if (next.kind == kWhole) return file_->read(next.begin, next.length);
  std::vector<RecordPart> parts = {next};
  std::uint64_t length = next.length;
  while (!next.ends_record()) {
    next = part(next.end(), true);
    parts.push_back(next);
    length += 4 + next.length;
  }
  NewRecord record(length);
  std::uint8_t* to = record.bytes.data();
  for (const RecordPart& piece : parts) {
    if (&piece != &parts.front()) {
      store_u32(to, kDmlcMagic);
      to += 4;
    }
    const Record bytes = file_->read(piece.begin, piece.length);
    to = std::copy(bytes.bytes.begin(), bytes.bytes.end(), to);
  }
  return record;
}

std::uint64_t DmlcSource::fingerprint() const {
  Fingerprint fingerprint;
  fingerprint.add(file_->size());
  for (const std::uint64_t begin : begins_) fingerprint.add(begin);
  return fingerprint.value();
}

}  // namespace

std::optional<std::string> dmlc_index_path(const std::string& path) {
  if (!path.ends_with(".rec")) return {};
  return path.substr(0, path.size() - 3) + "idx";
}

std::unique_ptr<RecordSource> open_dmlc(std::shared_ptr<DataFile> file) {
  return std::make_unique<DmlcSource>(std::move(file));
}

}  // namespace tandem::formats
