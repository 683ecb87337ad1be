// WebDataset: a sample is the row of files in a tar that have one name up to the first dot after the last slash.
// Source: github.com/webdataset/webdataset.
#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "base/fingerprint.h"
#include "data/formats/formats.h"
#include "data/formats/msgpack.h"
#include "data/formats/tar_files.h"

namespace tandem::formats {
namespace {

// A file of a sample.
struct SamplePart : TarMember {
  std::size_t key_length() const {
    const auto slash = header.name.rfind('/');
    const auto dot = header.name.find('.', slash == std::string::npos ? 0 : slash + 1);
    return dot == std::string::npos ? header.name.size() : dot;
  }
  std::string key() const { return header.name.substr(0, key_length()); }
  // "jpg", "seg.png"; "" for a name without a dot.
  std::string extension() const {
    std::string extension = header.name.substr(std::min(key_length() + 1, header.name.size()));
    std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
    return extension;
  }
  // Folders and links are none; WebDataset keeps notes of its own under names like __this__.
  bool is_part_of_sample() const {
    const std::string name = header.name.substr(header.name.rfind('/') + 1);
    return header.is_file() && !name.empty() && name[0] != '.' && !(name.starts_with("__") && name.ends_with("__"));
  }
};

class TarSource : public RecordSource {
 public:
  explicit TarSource(std::shared_ptr<DataFile> file) : file_(std::move(file)) { walk(); }

  std::int64_t size() const override { return static_cast<std::int64_t>(begins_.size()); }
  Record read(std::int64_t index) override;
  std::string place(std::int64_t index) const override {
    return file_->name() + ", sample " + std::to_string(index) + " at byte " +
           std::to_string(begins_[static_cast<std::size_t>(index)]);
  }
  std::uint64_t fingerprint() const override { return fingerprint_.value(); }

 private:
  void walk();
  const std::shared_ptr<DataFile> file_;
  std::vector<std::uint64_t> begins_;  // of samples' first members
  Fingerprint fingerprint_;
};

void TarSource::walk() {
  fingerprint_.add(file_->size());
  std::string key;
  bool any = false;
  for (std::uint64_t at = 0;;) {
    auto member = read_tar_member(*file_, at);
    if (!member) break;
    const SamplePart part{*std::move(member)};
    if (part.is_part_of_sample()) {
      if (std::string its_key = part.key(); !any || its_key != key) {
        begins_.push_back(at);
        key = std::move(its_key);
        any = true;
      }
      fingerprint_.add(at);
      fingerprint_.add(part.header.size);
      fingerprint_.add(part.header.checksum);
    }
    at = part.next;
  }
}

Record TarSource::read(std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  const std::uint64_t end = i + 1 < begins_.size() ? begins_[i + 1] : file_->size();
  std::vector<SamplePart> parts;
  std::uint64_t bytes = 0;
  for (std::uint64_t at = begins_[i]; at < end;) {
    auto member = read_tar_member(*file_, at);
    if (!member) break;
    SamplePart part{*std::move(member)};
    at = part.next;
    if (!part.is_part_of_sample()) continue;
    for (const SamplePart& other : parts) {
      if (other.extension() == part.extension()) {
        throw_damaged(*file_, "sample " + std::to_string(index) + " has two files '" + part.header.name + "'");
      }
    }
    if (part.header.size > std::numeric_limits<std::uint32_t>::max()) {
      throw_damaged(*file_, "the file '" + part.header.name + "' has more than 4 GiB");
    }
    bytes += part.header.size;
    parts.push_back(std::move(part));
  }
  auto record = std::make_shared<std::vector<std::uint8_t>>();
  record->reserve(bytes + 64 * (parts.size() + 1) + parts.front().key_length());
  MsgpackWriter writer(*record);
  writer.map_head(static_cast<std::uint32_t>(parts.size() + 1));
  writer.text("__key__");
  writer.text(parts.front().key());
  for (const SamplePart& part : parts) {
    writer.text(part.extension());
    writer.binary(file_->read(part.content, part.header.size).bytes);
  }
  return {*record, record};
}

}  // namespace

std::unique_ptr<RecordSource> open_tar(std::shared_ptr<DataFile> file) {
  return std::make_unique<TarSource>(std::move(file));
}

}  // namespace tandem::formats
