#include "tandem/sharded_safetensors.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "tandem/error.h"
#include "weights/shard_index.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using weights::ShardIndex;

std::string index_name(const std::string& name) {
  return name + ".safetensors.index.json";
}

std::string shard_name(const std::string& name, std::size_t number, std::size_t count) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "-%05zu-of-%05zu", number, count);
  return name + numbers + ".safetensors";
}

bool is_shard_name(const std::string& file, const std::string& name) {
  constexpr std::string_view kEnding = ".safetensors";
  if (!file.starts_with(name) || !file.ends_with(kEnding) || file.size() < name.size() + kEnding.size()) return false;
  const std::string between = file.substr(name.size(), file.size() - name.size() - kEnding.size());
  return between.empty() || (between.starts_with("-") && between.find("-of-") != std::string::npos);
}

void check_folder(const std::string& folder, const std::string& name) {
  std::error_code error;
  fs::create_directory(folder, error);  // where it cannot be made, writing says why
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename();
    if (file != index_name(name) && !is_shard_name(file, name)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                folder + " has the file " + file + " of an earlier save; give a new folder, or remove those files");
  }
}

Safetensors load_file(const fs::path& path, bool map) {
  return map ? SafetensorsFile(path).content() : load_safetensors(path);
}

Safetensors load_indexed(const fs::path& path, bool map) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  std::string json;
  {
    LostReads lost;
    json.assign(reinterpret_cast<const char*>(bytes.data()),
                std::min<std::size_t>(bytes.size(), weights::kLongestIndex + 1));
    file.look_for_end(bytes.size());
    if (lost.any()) file.check(0, bytes.size());
  }
  const ShardIndex index = weights::parse_shard_index(json, path);
  std::map<std::string, std::map<std::string, at::Tensor>> shards;
  Safetensors content;
  std::string absent;
  for (const auto& [tensor, shard] : index.files) {
    const auto [found, is_new] = shards.try_emplace(shard);
    if (is_new) {
      Safetensors loaded = load_file(path.parent_path() / shard, map);
      for (auto& [name, value] : loaded.tensors) found->second.emplace(std::move(name), std::move(value));
      content.metadata.merge(loaded.metadata);
    }
    const auto value = found->second.find(tensor);
    if (value == found->second.end()) {
      absent += "\n  '" + tensor + "' in " + shard;
    } else {
      content.tensors.emplace_back(tensor, value->second);
    }
  }
  if (!absent.empty()) {
    throw Error(ErrorCode::kDataLoss, path.string() + " names tensors that its files do not have:" + absent);
  }
  return content;
}

}  // namespace

void save_sharded_safetensors(const std::string& folder, const Safetensors& content, const ShardOptions& options) {
  if (options.most_shard_bytes == 0) throw Error(ErrorCode::kInvalidArgument, "most_shard_bytes is 0");
  check_folder(folder, options.name);
  std::vector<Safetensors> shards;
  std::set<std::string> names;
  std::uint64_t bytes = 0;
  ShardIndex index;
  for (const auto& [name, tensor] : content.tensors) {
    if (!names.insert(name).second) throw Error(ErrorCode::kInvalidArgument, "the name '" + name + "' is given twice");
    const std::uint64_t size = tensor.defined() ? tensor.nbytes() : 0;
    if (shards.empty() || (bytes > 0 && size > options.most_shard_bytes - std::min(bytes, options.most_shard_bytes))) {
      shards.emplace_back().metadata = content.metadata;
      bytes = 0;
    }
    shards.back().tensors.emplace_back(name, tensor);
    bytes += size;
    index.total_bytes += size;
  }
  if (shards.size() <= 1) return save_safetensors(fs::path(folder) / (options.name + ".safetensors"), content);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string file = shard_name(options.name, i + 1, shards.size());
    save_safetensors(fs::path(folder) / file, shards[i]);
    for (const auto& item : shards[i].tensors) index.files.emplace_back(item.first, file);
  }
  const std::string json = weights::format_shard_index(index);
  AtomicFile file(fs::path(folder) / index_name(options.name));
  file.append(json.data(), json.size());
  file.commit();
}

Safetensors load_sharded_safetensors(const std::string& path, const ShardLoadOptions& options) {
  const auto& [name, map] = options;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return path.ends_with(".json") ? load_indexed(path, map) : load_file(path, map);
  }
  const fs::path one = fs::path(path) / (name + ".safetensors"), index = fs::path(path) / index_name(name);
  if (fs::exists(one, error)) return load_file(one, map);
  if (fs::exists(index, error)) return load_indexed(index, map);
  throw Error(ErrorCode::kNotFound, path + " has neither " + index.filename().string() + " nor " +
                                        one.filename().string() + "; was its save ended early?");
}

}  // namespace tandem
