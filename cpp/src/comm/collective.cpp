#include "comm/collective.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cctype>

namespace tandem {

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "an undefined tensor";
  std::string dtype = c10::toString(tensor.scalar_type());
  std::transform(dtype.begin(), dtype.end(), dtype.begin(), [](unsigned char c) { return std::tolower(c); });
  return c10::str(dtype, tensor.sizes(), tensor.is_cpu() ? "" : " on " + tensor.device().str());
}

std::string describe(const std::vector<at::Tensor>& tensors) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(tensors.size(), kShown); ++i) text += (i ? ", " : "") + describe(tensors[i]);
  if (tensors.size() > kShown) text += " and " + std::to_string(tensors.size() - kShown) + " more";
  return text;
}

std::string describe(const Collective& collective) {
  std::string text = collective.name;
  text += " #" + std::to_string(collective.sequence);
  if (!collective.tensors.empty()) text += " of " + describe(collective.tensors);
  return text;
}

bool is_over(const Collective& collective) {
  return std::chrono::steady_clock::now() >= collective.begun + collective.timeout;
}

std::string are_missing(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 16;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text + (ranks.size() == 1 ? " is missing" : " are missing");
}

}  // namespace tandem
