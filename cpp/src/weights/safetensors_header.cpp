#include "weights/safetensors_header.h"

#include <algorithm>
#include <cstring>

#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::safetensors {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLongest = 100'000'000;  // of a header, by the format's definition
constexpr std::uint64_t kAlign = 64;

// Of the header's text, little-endian.
std::uint64_t length_of(std::string_view start) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(start[i]);
  return length;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kDataLoss, path_ + " is not a valid safetensors file: " + why);
  }
  [[noreturn]] void fail(const std::string& tensor, const std::string& why) const {
    fail("tensor '" + tensor + "' " + why);
  }

  std::uint64_t number(const std::string& tensor, const Json& value, const char* what) const {
    if (!value.is_number_unsigned()) fail(tensor, std::string(what) + " holds " + value.dump() + ", no natural number");
    return value.get<std::uint64_t>();
  }

  Entry entry(const std::string& name, const Json& value) const {
    if (!value.is_object()) fail(name, "is described by no object");
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!value.contains(key)) fail(name, std::string("has no ") + key);
    }
    Entry result;
    result.name = name;
    if (!value["dtype"].is_string()) fail(name, "has a dtype that is no string");
    result.dtype = value["dtype"].get<std::string>();
    const std::uint64_t element = element_bytes(result.dtype);
    if (element == 0) fail(name, "has the dtype '" + result.dtype + "', which Tandem does not know");
    if (!value["shape"].is_array() || value["shape"].size() > 64) fail(name, "has a shape that is no list of sizes");
    std::uint64_t bytes = element;
    bool empty = false;
    for (const Json& size : value["shape"]) {
      const std::uint64_t one = number(name, size, "shape");
      if (one > INT64_MAX) fail(name, "has a size of " + std::to_string(one));
      empty = empty || one == 0;
      result.sizes.push_back(static_cast<std::int64_t>(one));
    }
    for (const std::int64_t size : result.sizes) {
      if (empty) break;
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) || bytes > INT64_MAX) {
        fail(name, "has more elements than memory can hold");
      }
    }
    if (empty) bytes = 0;
    const Json& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) fail(name, "has data_offsets that are no pair");
    result.begin = number(name, offsets[0], "data_offsets");
    result.end = number(name, offsets[1], "data_offsets");
    if (result.end < result.begin || result.end - result.begin != bytes) {
      fail(name, "takes " + std::to_string(bytes) + " bytes by its dtype and shape, but its data_offsets are " +
                     offsets.dump());
    }
    return result;
  }

 private:
  const std::string& path_;
};

}  // namespace

std::uint64_t element_bytes(std::string_view dtype) {
  struct Known {
    std::string_view name;
    std::uint64_t bytes;
  };
  static constexpr Known kKnown[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},   {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"U16", 2},
                                     {"I16", 2},  {"F16", 2}, {"BF16", 2}, {"U32", 4},     {"I32", 4},     {"F32", 4},
                                     {"U64", 8},  {"I64", 8}, {"F64", 8},  {"C64", 8}};
  for (const Known& known : kKnown) {
    if (known.name == dtype) return known.bytes;
  }
  return 0;
}

std::uint64_t header_bytes(std::string_view start) {
  return start.size() < kLengthBytes ? 0 : std::min(length_of(start), kLongest);
}

Header parse(const std::string& path, std::string_view start, std::uint64_t file_size) {
  const Reader reader(path);
  if (file_size < kLengthBytes || start.size() < kLengthBytes) {
    reader.fail("it has " + std::to_string(file_size) + " bytes, too few for a header");
  }
  const std::uint64_t length = length_of(start);
  if (length > file_size - kLengthBytes || length > kLongest || length > start.size() - kLengthBytes) {
    reader.fail("its header claims " + std::to_string(length) + " bytes, the file has " + std::to_string(file_size));
  }
  const std::string_view text = start.substr(kLengthBytes, length);
  Json json;
  try {
    json = parse_json_document(text);
  } catch (const JsonFault& fault) {
    reader.fail(std::string("its header ") + fault.what());
  }
  if (!json.is_object()) reader.fail("its header is no JSON object");

  Header header;
  header.data = kLengthBytes + length;
  for (const auto& [name, value] : json.items()) {
    if (name != "__metadata__") {
      header.entries.push_back(reader.entry(name, value));
      continue;
    }
    if (!value.is_object()) reader.fail("its __metadata__ is no object");
    for (const auto& [key, text_value] : value.items()) {
      if (!text_value.is_string()) reader.fail("its __metadata__ '" + key + "' is no string");
      header.metadata[key] = text_value.get<std::string>();
    }
  }
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  std::uint64_t place = 0;
  for (const Entry& entry : header.entries) {
    if (entry.begin != place) {
      reader.fail(entry.name, "begins at byte " + std::to_string(entry.begin) + ", but those before it end at " +
                                  std::to_string(place));
    }
    place = entry.end;
  }
  if (place != file_size - header.data) {
    reader.fail("its tensors take " + std::to_string(place) + " bytes, the file has " +
                std::to_string(file_size - header.data) + " for them: it is truncated, or longer than it was written");
  }
  return header;
}

std::string format(Header& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  std::uint64_t place = 0;
  for (Entry& entry : header.entries) {
    std::uint64_t bytes = element_bytes(entry.dtype);
    for (const std::int64_t size : entry.sizes) bytes *= static_cast<std::uint64_t>(size);
    entry.begin = place;
    entry.end = place += bytes;
    append_member(json, entry.name,
                  {{"dtype", entry.dtype}, {"shape", entry.sizes}, {"data_offsets", {entry.begin, entry.end}}});
  }
  std::string text = json.dump();
  text.append((kAlign - (kLengthBytes + text.size()) % kAlign) % kAlign, ' ');
  header.data = kLengthBytes + text.size();
  std::string start;
  for (std::size_t i = 0; i < kLengthBytes; ++i) start.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  return start + text;
}

}  // namespace tandem::safetensors
