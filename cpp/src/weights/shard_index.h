// The index of safetensors files that one model is spread over: NAME.safetensors.index.json, as Hugging Face writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::weights {

struct ShardIndex {
  std::vector<std::pair<std::string, std::string>> files;  // a tensor's name and the file that has it
  std::uint64_t total_bytes = 0;                           // of all tensors' elements
};

// Each file is a plain name of a *.safetensors, which can lie in the index's own folder alone. `name`: of the file of
// the index, for messages. Throws tandem::Error (kDataLoss).
ShardIndex parse_shard_index(std::string_view json, const std::string& name);
std::string format_shard_index(const ShardIndex& index);

inline constexpr std::uint64_t kLongestIndex = 100'000'000;  // bytes; as a safetensors header

}  // namespace tandem::weights
