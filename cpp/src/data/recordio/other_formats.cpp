#include "data/recordio/other_formats.h"

#include <algorithm>
#include <array>

#include "crc32c.h"
#include "data/recordio/v1_format.h"

namespace tandem::recordio {
namespace {

bool begins_with(Bytes file, std::initializer_list<int> bytes) {
  return file.size() >= bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), file.begin(), [](int a, std::uint8_t b) { return a == b; });
}

// Paddle fluid and pyrecordio share the magic but order the header differently: records, checksum, compressor, size.
// Only a checksum that matches tells.
std::string guess_dialect(Bytes file) {
  if (file.size() < kHeaderBytes || load_u32(file.data()) != kMagic) return "";
  const std::uint32_t checksum = load_u32(file.data() + 8);
  const std::uint32_t compressor = load_u32(file.data() + 12);
  const std::uint32_t size = load_u32(file.data() + 16);
  if (compressor > 3 || size > file.size() - kHeaderBytes) return "";
  const Bytes payload = file.subspan(kHeaderBytes, size);
  if (crc32(payload) == checksum) return "it is in the RecordIO dialect of Paddle fluid";
  if (crc32c(payload) == checksum) return "it is in the RecordIO dialect of pyrecordio";
  return "";
}

}  // namespace

std::string guess_other_format(Bytes file) {
  if (const std::string dialect = guess_dialect(file); !dialect.empty()) {
    return dialect + ": write its records anew with Tandem's writer";
  }
  if (begins_with(file, {0x1f, 0x8b})) return "it looks like a gzip file: decompress it first";
  if (begins_with(file, {0, 0, 8, 1}) || begins_with(file, {0, 0, 8, 3})) {
    return "it looks like an MNIST IDX file: convert it with `tandem record import-mnist`";
  }
  if (begins_with(file, {0x0a, 0x23, 0xd7, 0xce})) return "it looks like a RecordIO file of dmlc or MXNet";
  if (file.size() >= 12) {  // TFRecord: a length and its masked CRC-32C
    if (load_u32(file.data() + 8) == masked_crc32c(file.first(8))) return "it looks like a TFRecord file";
  }
  return "";
}

}  // namespace tandem::recordio
