#include "checkpoint/manifest.h"

#include <charconv>
#include <climits>
#include <cstdio>
#include <set>

#include "base/invalid.h"
#include "base/json_depth.h"
#include "base/json_document.h"
#include "checkpoint/checksum.h"
#include "checkpoint/parts.h"

namespace tandem::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::string_view kBegin = "{\"crc32\": \"";
constexpr std::size_t kChecksumDigits = 8;
constexpr std::string_view kAfter = "\",";

Json to_json(const FileRecord& file) {
  Json tensors = Json::object();
  for (const TensorRecord& tensor : file.tensors) {
    Json one{{"crc32", tensor.crc32}};
    if (!tensor.whole.empty()) {
      one["whole"] = tensor.whole;
      one["begin"] = tensor.begin;
      one["sizes"] = tensor.sizes;
    }
    append_member(tensors, tensor.name, std::move(one));
  }
  return {{"name", file.name},   {"section", file.section},           {"rank", file.rank},
          {"bytes", file.bytes}, {"header_crc32", file.header_crc32}, {"tensors", std::move(tensors)}};
}

Json files_json(const std::vector<FileRecord>& files) {
  Json list = Json::array();
  for (const FileRecord& file : files) list.push_back(to_json(file));
  return list;
}

// Takes what is in the JSON, or says what is not.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kDataLoss, path_ + " is damaged: " + why);
  }

  Json parse_text(std::string_view text) const {
    try {
      return parse_json_document(text);
    } catch (const JsonFault& fault) {
      fail(std::string("it ") + fault.what());
    }
  }

  const Json& member(const Json& object, const char* name) const {
    if (!object.is_object() || !object.contains(name)) fail(std::string("it lacks '") + name + "'");
    return object[name];
  }
  template <typename T>
  T number(const Json& object, const char* name, std::uint64_t most) const {
    const Json& value = member(object, name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      fail(std::string("'") + name + "' is no number up to " + std::to_string(most));
    }
    return static_cast<T>(value.get<std::uint64_t>());
  }
  std::string text(const Json& object, const char* name) const {
    const Json& value = member(object, name);
    if (!value.is_string()) fail(std::string("'") + name + "' is no text");
    return value.get<std::string>();
  }
  std::vector<std::int64_t> sizes(const Json& object, const char* name) const {
    const Json& value = member(object, name);
    if (!value.is_array() || value.size() > 64) fail(std::string("'") + name + "' is no list of sizes");
    std::vector<std::int64_t> list;
    for (const Json& each : value) {
      if (!each.is_number_unsigned() || each.get<std::uint64_t>() > INT64_MAX) {
        fail(std::string("'") + name + "' holds what is no size");
      }
      list.push_back(each.get<std::int64_t>());
    }
    return list;
  }

  FileRecord file(const Json& json) const {
    FileRecord file;
    file.name = text(json, "name");
    file.section = text(json, "section");
    file.rank = number<int>(json, "rank", INT_MAX);
    file.bytes = number<std::uint64_t>(json, "bytes", INT64_MAX);
    file.header_crc32 = number<std::uint32_t>(json, "header_crc32", UINT32_MAX);
    if (!is_section_name(file.section)) fail("a file is of the section '" + file.section + "'");
    // Nothing outside of the folder.
    if (!file.name.starts_with(file.section + ".") || !file.name.ends_with(".safetensors") ||
        file.name.find('/') != std::string::npos) {
      fail("it names the file '" + file.name + "' for the section '" + file.section + "'");
    }
    const Json& tensors = member(json, "tensors");
    if (!tensors.is_object()) fail("'tensors' is no object");
    for (const auto& [name, value] : tensors.items()) {
      TensorRecord tensor{name, number<std::uint32_t>(value, "crc32", UINT32_MAX), {}, {}, {}};
      if (value.contains("whole")) {
        tensor.whole = sizes(value, "whole");
        tensor.begin = sizes(value, "begin");
        tensor.sizes = sizes(value, "sizes");
      }
      file.tensors.push_back(std::move(tensor));
    }
    return file;
  }

  std::vector<FileRecord> files(const Json& list) const {
    if (!list.is_array()) fail("'files' is no list");
    std::vector<FileRecord> all;
    std::set<std::string> names;
    for (const Json& each : list) {
      all.push_back(file(each));
      if (!names.insert(all.back().name).second) fail("it names the file '" + all.back().name + "' twice");
    }
    return all;
  }

 private:
  std::string path_;
};

}  // namespace

bool is_section_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string_view::npos;
}

std::string file_name(const std::string& section) {
  return section + ".safetensors";
}

std::string file_name(const std::string& section, int rank, int world_size) {
  return section + ".rank-" + std::to_string(rank) + "-of-" + std::to_string(world_size) + ".safetensors";
}

std::string format_files(const std::vector<FileRecord>& files) {
  return files_json(files).dump();
}

std::vector<FileRecord> parse_files(std::string_view text) {
  const Reader reader("what a rank says of its files");
  return reader.files(reader.parse_text(text));
}

std::string format(const Manifest& manifest) {
  Json json{{"format", "tandem-checkpoint"},
            {"version", kVersion},
            {"step", manifest.step},
            {"world_size", manifest.world_size},
            {"values", {{"name", kValues}, {"bytes", manifest.values_bytes}, {"crc32", manifest.values_crc32}}},
            {"files", files_json(manifest.files)}};
  const std::string rest = json.dump(1).substr(1) + "\n";  // without its brace
  char digits[kChecksumDigits + 1];
  std::snprintf(digits, sizeof digits, "%08x", checksum(rest));
  return std::string(kBegin) + digits + std::string(kAfter) + rest;
}

Manifest parse(std::string_view text, const std::string& path) {
  const Reader reader(path);
  const std::size_t rest = kBegin.size() + kChecksumDigits + kAfter.size();
  if (text.size() < rest || !text.starts_with(kBegin) || text.substr(rest - kAfter.size(), kAfter.size()) != kAfter) {
    reader.fail("it does not begin with its checksum");
  }
  std::uint32_t crc = 0;
  const char* const end = text.data() + kBegin.size() + kChecksumDigits;
  if (std::from_chars(text.data() + kBegin.size(), end, crc, 16).ptr != end || crc != checksum(text.substr(rest))) {
    reader.fail("it is not what its checksum was made of");
  }
  const Json json = reader.parse_text(text);
  if (reader.text(json, "format") != "tandem-checkpoint")
    reader.fail("its format is '" + reader.text(json, "format") + "'");
  if (const int version = reader.number<int>(json, "version", INT_MAX); version != kVersion) {
    throw Error(ErrorCode::kUnsupported, path + " is of version " + std::to_string(version) + ", this Tandem reads " +
                                             std::to_string(kVersion) + "; use a later one");
  }
  Manifest manifest;
  manifest.step = reader.number<std::int64_t>(json, "step", INT64_MAX);
  manifest.world_size = reader.number<int>(json, "world_size", INT_MAX);
  const Json& values = reader.member(json, "values");
  manifest.values_bytes = reader.number<std::uint64_t>(values, "bytes", kLongestManifest);
  manifest.values_crc32 = reader.number<std::uint32_t>(values, "crc32", UINT32_MAX);
  manifest.files = reader.files(reader.member(json, "files"));
  if (const std::string wrong = what_is_wrong(manifest.files); !wrong.empty()) reader.fail(wrong);
  return manifest;
}

void check_values(const std::string& json) {
  if (json.size() > kLongestManifest)
    invalid("the values of a checkpoint are " + std::to_string(json.size()) + " bytes");
  using Value = nlohmann::json;  // of which members may be there twice: it is the program's own
  try {
    [[maybe_unused]] const Value read = Value::parse(json, [](int depth, Value::parse_event_t event, const Value&) {
      check_json_depth(depth, event);
      return true;
    });
  } catch (const Value::exception& error) {
    invalid(std::string("the values of a checkpoint are no JSON: ") + error.what());
  } catch (const JsonTooDeep&) {
    invalid("the values of a checkpoint are nested more than " + std::to_string(kDeepestJson) + " deep");
  }
}

}  // namespace tandem::checkpoint
