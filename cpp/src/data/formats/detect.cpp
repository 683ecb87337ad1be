#include "data/formats/detect.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "data/formats/cifar.h"
#include "data/formats/dmlc.h"
#include "data/formats/idx.h"
#include "data/formats/tar_header.h"
#include "data/recordio/v1_format.h"
#include "data/recordio/v2_format.h"

namespace tandem {
namespace {

using recordio::Bytes;

constexpr std::uint64_t kLooked = 4096;

// TFRecord begins with a length and that length's checksum.
bool is_tfrecord(Bytes begin) {
  return begin.size() >= 12 && load_u32(begin.data() + 8) == masked_crc32c(begin.first(8));
}

// The labels of so many records must be possible ones.
bool is_cifar(DataFile& file, const formats::CifarLayout& layout) {
  constexpr std::uint64_t kLabelsLooked = 1000;
  if (file.size() == 0 || file.size() % layout.record_bytes != 0) return false;
  for (std::uint64_t i = 0; i < std::min(file.size() / layout.record_bytes, kLabelsLooked); ++i) {
    const Record labels = file.read(i * layout.record_bytes, layout.label_bytes);
    if (!layout.labels_possible(labels.bytes)) return false;
  }
  return true;
}

// UTF-8 without control characters; a last character may be cut.
bool is_text(Bytes begin) {
  for (std::size_t i = 0; i < begin.size();) {
    const std::uint8_t c = begin[i];
    const std::size_t more = c < 0x80                ? 0
                             : c >= 0xc2 && c < 0xe0 ? 1
                             : c >= 0xe0 && c < 0xf0 ? 2
                             : c >= 0xf0 && c < 0xf5 ? 3
                                                     : 4;
    if (more == 4 || c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f')) return false;
    for (std::size_t k = 1; k <= more && i + k < begin.size(); ++k) {
      if ((begin[i + k] & 0xc0) != 0x80) return false;
    }
    i += 1 + more;
  }
  return true;
}

RecordFormat kind_of_text(Bytes begin, const std::string& name) {
  for (const char* ending : {".csv", ".tsv", ".CSV", ".TSV"}) {
    if (name.ends_with(ending)) return RecordFormat::kCsv;
  }
  const auto first = std::ranges::find_if(begin, [](std::uint8_t c) { return c > ' ' && c < 0x80; });
  return first != begin.end() && *first == '{' ? RecordFormat::kNdjson : RecordFormat::kLines;
}

}  // namespace

std::optional<RecordFormat> detect_format(DataFile& file) {
  if (file.size() == 0) return RecordFormat::kRecordIO;
  const Record looked = file.read(0, std::min(file.size(), kLooked));
  const Bytes begin = looked.bytes;
  const std::uint32_t magic = begin.size() >= 4 ? load_u32(begin.data()) : 0;
  if (magic == recordio::kMagic) return RecordFormat::kRecordIO;
  if (begin.size() >= 8 && std::ranges::equal(begin.first(8), recordio::v2::kMagic)) return RecordFormat::kRecordIO;
  if (magic == formats::kDmlcMagic) return RecordFormat::kDmlc;
  if (is_tfrecord(begin)) return RecordFormat::kTFRecord;
  if (formats::is_tar(begin)) return RecordFormat::kTar;
  const bool idx = formats::is_idx(begin);
  if (idx && formats::declared_idx_bytes(begin) == file.size()) return RecordFormat::kIdx;
  if (is_text(begin)) return kind_of_text(begin, file.path());
  if (is_cifar(file, formats::kCifar10Layout)) return RecordFormat::kCifar10;
  if (is_cifar(file, formats::kCifar100Layout)) return RecordFormat::kCifar100;
  if (idx || formats::is_gzipped_idx(begin)) return RecordFormat::kIdx;
  return {};
}

std::string what_else_it_is(DataFile& file) {
  const auto format = detect_format(file);
  if (format && *format != RecordFormat::kRecordIO) {
    return "; it looks like format '" + record_format_name(*format) +
           "': make RecordIO of it with `tandem record convert`";
  }
  const Record begin = file.read(0, std::min<std::uint64_t>(file.size(), 2));
  if (begin.bytes.size() == 2 && begin.bytes[0] == 0x1f && begin.bytes[1] == 0x8b) {
    return "; it looks like a gzip file: decompress it first";
  }
  return "";
}

}  // namespace tandem
