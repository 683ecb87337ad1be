#include "weights/shard_index.h"

#include <algorithm>

#include "base/json_document.h"
#include "tandem/error.h"

namespace tandem::weights {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".safetensors";

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ';
}

bool is_plain(std::string_view file) {
  const auto is_bad = [](char c) { return c == '/' || c == '\\' || is_control(c); };
  return file.size() > kEnding.size() && file.size() <= 255 && file.ends_with(kEnding) && file.front() != '.' &&
         std::none_of(file.begin(), file.end(), is_bad);
}

}  // namespace

ShardIndex parse_shard_index(std::string_view json, const std::string& name) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kDataLoss, name + " is not a valid index of safetensors files: " + why);
  };
  if (json.size() > kLongestIndex) fail("it has more than " + std::to_string(kLongestIndex) + " bytes");
  Json parsed;
  try {
    parsed = parse_json_document(json);
  } catch (const JsonFault& fault) {
    fail(std::string("it ") + fault.what());
  }
  if (!parsed.is_object() || !parsed.contains("weight_map") || !parsed["weight_map"].is_object()) {
    fail("it has no object weight_map");
  }
  ShardIndex index;
  for (const auto& [tensor, file] : parsed["weight_map"].items()) {
    const std::string shown = "tensor '" + tensor.substr(0, 200) + "'";
    if (!file.is_string()) fail(shown + " has a file that is no text");
    const auto& text = file.get_ref<const std::string&>();
    if (!is_plain(text)) {
      std::string named = text.substr(0, 200);
      std::replace_if(named.begin(), named.end(), is_control, '?');
      fail(shown + " is in the file '" + named + "', which is no name of a .safetensors file in its folder");
    }
    index.files.emplace_back(tensor, text);
  }
  if (parsed.contains("metadata") && parsed["metadata"].is_object() && parsed["metadata"].contains("total_size")) {
    const Json& total = parsed["metadata"]["total_size"];
    // Some writers give it as 1.6e10.
    if (total.is_number_unsigned()) index.total_bytes = total.get<std::uint64_t>();
  }
  return index;
}

std::string format_shard_index(const ShardIndex& index) {
  Json json = {{"metadata", {{"total_size", index.total_bytes}}}, {"weight_map", Json::object()}};
  for (const auto& [tensor, file] : index.files) append_member(json["weight_map"], tensor, file);
  return json.dump(2) + "\n";
}

}  // namespace tandem::weights
