#include "elastic/session/parameter_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "base/crc32c.h"
#include "base/invalid.h"

namespace tandem::elastic {
namespace {

std::string listed(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace

ParameterHashes::ParameterHashes(const CheckpointContent& content) {
  std::map<std::string, at::Tensor> parameters;
  for (const auto& [section, named] : content.replicated) {
    for (const auto& [name, tensor] : named) {
      if (tensor.requires_grad()) parameters.emplace(section + "." + name, tensor);
    }
  }
  if (parameters.empty()) {
    invalid("check_every is set, but no tensor of the commit requires a gradient: there are no parameters to compare");
  }
  for (const auto& [name, tensor] : parameters) {
    const at::Tensor bytes = tensor.detach().cpu().contiguous();
    names_.push_back(name);
    hashes_.push_back(crc32c({static_cast<const std::uint8_t*>(bytes.const_data_ptr()), bytes.nbytes()}));
  }
}

std::string ParameterHashes::encode() const {
  return {reinterpret_cast<const char*>(hashes_.data()), hashes_.size() * sizeof hashes_[0]};
}

std::optional<ParameterHashes::Difference> ParameterHashes::compare(const std::vector<std::string>& of_ranks) const {
  std::map<std::string, std::vector<int>> ranks_with;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) ranks_with[of_ranks[rank]].push_back(static_cast<int>(rank));
  if (ranks_with.size() < 2) return std::nullopt;
  const auto most = std::ranges::max_element(ranks_with, {}, [](const auto& item) { return item.second.size(); });
  Difference difference;
  difference.has_majority = 2 * most->second.size() > of_ranks.size();
  std::string other;  // to find a parameter that differs
  for (int rank = 0; rank < static_cast<int>(of_ranks.size()); ++rank) {
    const std::string& hashes = of_ranks[static_cast<std::size_t>(rank)];
    if (hashes != most->first && other.empty()) other = hashes;
    if (!difference.has_majority || hashes != most->first) difference.wrong.push_back(rank);
  }
  std::string name = "parameters";
  for (std::size_t i = 0; i < names_.size() && other.size() == most->first.size(); ++i) {
    const std::size_t at = i * sizeof hashes_[0];
    if (at + sizeof hashes_[0] > other.size() || other.compare(at, sizeof hashes_[0], most->first, at, sizeof hashes_[0]) == 0) continue;
    name = "'" + names_[i] + "'";
    break;
  }
  if (difference.has_majority) {
    difference.text = listed(difference.wrong) + (difference.wrong.size() == 1 ? " has" : " have") + " another " + name +
                      " than the " + std::to_string(most->second.size()) + " others, which have the same";
  } else {
    difference.text = listed(difference.wrong) + " differ in " + name + ", and no more than half of them agree, so that nobody "
                      "can say which computes wrongly";
  }
  return difference;
}

}  // namespace tandem::elastic
