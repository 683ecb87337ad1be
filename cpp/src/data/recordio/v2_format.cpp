#include "data/recordio/v2_format.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/json_depth.h"
#include "tandem/error.h"

namespace tandem::recordio::v2 {
namespace {

constexpr std::size_t kCrcAt = kBlock - 4;
// A block of 128 KiB takes four bytes at least.
constexpr std::uint64_t kMostZstdExpansion = 32768;

void seal(Block& block) {
  store_u32(block.data() + kCrcAt, crc32c(Bytes(block).first(kCrcAt)));
}

void check_seal(Bytes block, const char* what) {
  const std::uint32_t stored = load_u32(block.data() + kCrcAt), actual = crc32c(block.first(kCrcAt));
  if (stored != actual) {
    throw Damaged{std::string(what) + "'s checksum is " + hex(actual) + ", it says " + hex(stored)};
  }
}

template <std::size_t kSize>
std::array<std::uint8_t, kSize> load_array(const std::uint8_t* bytes) {
  std::array<std::uint8_t, kSize> array;
  std::memcpy(array.data(), bytes, kSize);
  return array;
}

template <std::size_t kSize>
void store_array(std::uint8_t* bytes, const std::array<std::uint8_t, kSize>& array) {
  std::memcpy(bytes, array.data(), kSize);
}

// Throws JsonTooDeep; discarded where it is no JSON.
template <typename Text>
nlohmann::ordered_json parse_bounded(const Text& text, int deepest) {
  const auto check = [deepest](int depth, nlohmann::ordered_json::parse_event_t event, nlohmann::ordered_json&) {
    check_json_depth(depth, event, deepest);
    return true;
  };
  return nlohmann::ordered_json::parse(text.begin(), text.end(), check, /*allow_exceptions=*/false);
}

void check_zero(Bytes bytes, const char* what) {
  if (std::ranges::any_of(bytes, [](std::uint8_t byte) { return byte != 0; })) {
    throw Damaged{std::string("reserved bytes of ") + what + " are in use: a newer version wrote it"};
  }
}

}  // namespace

Block encode(const FileHeader& header) {
  Block block{};
  store_array(block.data(), kMagic);
  store_u32(block.data() + 8, kVersion);
  store_array(block.data() + 16, header.sync);
  store_u64(block.data() + 32, header.metadata_bytes);
  store_u32(block.data() + 40, header.metadata_crc);
  seal(block);
  return block;
}

FileHeader decode_file_header(Bytes block) {
  if (load_array<8>(block.data()) != kMagic) throw Damaged{"the file does not begin with RecordIO v2's magic number"};
  check_seal(block, "the file's header");
  if (const std::uint32_t version = load_u32(block.data() + 8); version != kVersion) {
    throw Damaged{"it is of version " + std::to_string(version) + ", and this Tandem reads version 2"};
  }
  check_zero(block.subspan(12, 4), "the file's header");
  check_zero(block.subspan(44, 16), "the file's header");
  FileHeader header;
  header.sync = load_array<16>(block.data() + 16);
  header.metadata_bytes = load_u64(block.data() + 32);
  if (header.metadata_bytes > kMostMetadata) {
    throw Damaged{"its header declares " + std::to_string(header.metadata_bytes) + " bytes of metadata"};
  }
  header.metadata_crc = load_u32(block.data() + 40);
  return header;
}

Block encode(const ChunkHeader& header) {
  Block block{};
  store_array(block.data(), header.sync);
  block[16] = static_cast<std::uint8_t>(header.type);
  block[17] = static_cast<std::uint8_t>(header.codec);
  block[18] = static_cast<std::uint8_t>(std::countr_zero(header.alignment));
  store_u64(block.data() + 24, header.first_record);
  store_u64(block.data() + 32, header.records);
  store_u64(block.data() + 40, header.content_bytes);
  store_u64(block.data() + 48, header.stored_bytes);
  store_u32(block.data() + 56, header.stored_crc);
  seal(block);
  return block;
}

ChunkHeader decode_chunk_header(Bytes block) {
  check_seal(block, "its header");
  ChunkHeader header;
  header.sync = load_array<16>(block.data());
  header.type = static_cast<ChunkType>(block[16]);
  header.codec = static_cast<Compressor>(block[17]);
  if (block[18] > 6) throw Damaged{"its records lie on multiples of more than 64 bytes"};
  header.alignment = 1u << block[18];
  check_zero(block.subspan(19, 5), "its header");
  header.first_record = load_u64(block.data() + 24);
  header.records = load_u64(block.data() + 32);
  header.content_bytes = load_u64(block.data() + 40);
  header.stored_bytes = load_u64(block.data() + 48);
  header.stored_crc = load_u32(block.data() + 56);
  if (header.type != ChunkType::kRecords && header.type != ChunkType::kFooter) {
    throw Damaged{"it is of type " + std::to_string(block[16]) + ", which this Tandem does not know"};
  }
  if (header.codec != Compressor::kNone && header.codec != Compressor::kZstd) {
    throw Damaged{"its codec is " + std::to_string(block[17]) + ", none of 0, 3"};
  }
  const bool zstd = header.codec == Compressor::kZstd;
  if (!zstd && header.content_bytes != header.stored_bytes) throw Damaged{"its two sizes differ without compression"};
  if (zstd && header.content_bytes / kMostZstdExpansion > header.stored_bytes) {
    throw Damaged{"its header declares more than so few bytes can expand to"};
  }
  if (header.content_bytes > kMostContent) throw Damaged{"its header declares a content of more than 4 GiB"};
  if (header.type == ChunkType::kRecords && header.records > header.content_bytes / 8) {
    throw Damaged{"its header declares more records than its table can hold"};
  }
  return header;
}

Block encode(const Trailer& trailer) {
  Block block{};
  store_array(block.data(), kEndMagic);
  store_u64(block.data() + 8, trailer.footer_offset);
  store_u64(block.data() + 16, trailer.records);
  store_u64(block.data() + 24, trailer.chunks);
  store_array(block.data() + 32, trailer.sync);
  seal(block);
  return block;
}

Trailer decode_trailer(Bytes block) {
  if (load_array<8>(block.data()) != kEndMagic) throw Damaged{"it has no trailer at its end: it is cut off"};
  check_seal(block, "its trailer");
  check_zero(block.subspan(48, 12), "its trailer");
  Trailer trailer;
  trailer.footer_offset = load_u64(block.data() + 8);
  trailer.records = load_u64(block.data() + 16);
  trailer.chunks = load_u64(block.data() + 24);
  trailer.sync = load_array<16>(block.data() + 32);
  return trailer;
}

RecordTable::RecordTable(Bytes content, std::uint64_t records, std::uint32_t alignment)
    : content_(content), data_(8 * records), alignment_(alignment) {
  std::uint64_t end = data_;
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t begin = begin_after(end);
    end = load_u64(content.data() + 8 * i);
    if (end < begin || end > content.size()) {
      throw Damaged{"record " + std::to_string(i) + " of it lies outside of its content"};
    }
  }
  if (end != content.size()) throw Damaged{"its content has bytes after its last record"};
}

ChunkHeader check_chunk(Bytes file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kBlock) throw Damaged{"the file ends inside its header"};
  const ChunkHeader header = decode_chunk_header(file.subspan(offset, kBlock));
  const Bytes rest = file.subspan(offset + kBlock);
  // Not padded yet: a length near 2^64 would wrap around.
  if (header.stored_bytes > rest.size() || padded(header.stored_bytes) > rest.size()) {
    throw Damaged{"its header declares " + std::to_string(header.stored_bytes) + " bytes, the file has " +
                  std::to_string(rest.size())};
  }
  const Bytes stored = rest.first(padded(header.stored_bytes));
  if (const std::uint32_t actual = crc32c(stored); actual != header.stored_crc) {
    throw Damaged{"its checksum is " + hex(actual) + ", its header says " + hex(header.stored_crc)};
  }
  return header;
}

Bytes chunk_content(Bytes file, std::uint64_t offset, const ChunkHeader& header, Buffer& memory) {
  const Bytes stored = file.subspan(offset + kBlock, header.stored_bytes);
  if (header.codec == Compressor::kNone) return stored;
  // Zstandard says how large its result is, which a header that lies does not fit: nothing is allocated for it then.
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size != header.content_bytes) throw Damaged{"its compressed data is of another size than its header declares"};
  memory = allocate(header.content_bytes);
  const std::size_t produced = ZSTD_decompress(memory.data.get(), memory.size, stored.data(), stored.size());
  if (ZSTD_isError(produced)) {
    throw Damaged{std::string("its compressed data does not decompress: ") + ZSTD_getErrorName(produced)};
  }
  if (produced != memory.size) throw Damaged{"its compressed data ends early"};
  return {memory.data.get(), memory.size};
}

std::vector<std::uint8_t> zstd_compress(Bytes content, int level) {
  std::vector<std::uint8_t> stored(ZSTD_compressBound(content.size()));
  const std::size_t size = ZSTD_compress(stored.data(), stored.size(), content.data(), content.size(), level);
  if (ZSTD_isError(size)) {
    throw Error(ErrorCode::kInternal, std::string("a chunk cannot be compressed: ") + ZSTD_getErrorName(size));
  }
  stored.resize(size);
  return stored;
}

std::string encode_metadata(const RecordIOMetadata& metadata) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.schema.empty()) {
    constexpr int kDeepest = kDeepestJson - 1;  // it lies within an object
    try {
      json["schema"] = parse_bounded(metadata.schema, kDeepest);
    } catch (const JsonTooDeep&) {
      throw Error(ErrorCode::kInvalidArgument, "the schema is nested more than " + std::to_string(kDeepest) + " deep");
    }
    if (json["schema"].is_discarded()) throw Error(ErrorCode::kInvalidArgument, "the schema is no JSON");
  }
  json["user"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata.user) json["user"][key] = value;
  try {
    return json.dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorCode::kInvalidArgument, "metadata must be UTF-8");
  }
}

RecordIOMetadata decode_metadata(Bytes text) {
  nlohmann::ordered_json json;
  try {
    json = parse_bounded(text, kDeepestJson);
  } catch (const JsonTooDeep&) {
    throw Damaged{"its metadata are nested more than " + std::to_string(kDeepestJson) + " deep"};
  }
  if (!json.is_object() || !json.contains("user") || !json["user"].is_object()) {
    throw Damaged{"its metadata is no JSON object with an object \"user\""};
  }
  RecordIOMetadata metadata;
  if (json.contains("schema")) metadata.schema = json["schema"].dump();
  for (const auto& [key, value] : json["user"].items()) {
    if (!value.is_string()) throw Damaged{"its metadata \"" + key + "\" is no text"};
    metadata.user[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace tandem::recordio::v2
