// Tensors that one call can take together, or that travel as one: of one device, dtype and owner.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tandem {

struct Kind {
  at::Device device;
  at::ScalarType dtype;
  int owner;
  bool operator==(const Kind&) const = default;
};

// In the order in which each kind first comes, which is alike on ranks that number their devices otherwise. `owners`: a
// tensor's each, or none.
inline std::vector<std::pair<Kind, std::vector<at::Tensor>>> by_kind(at::TensorList tensors,
                                                                     const std::vector<int>& owners = {}) {
  std::vector<std::pair<Kind, std::vector<at::Tensor>>> kinds;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Kind kind{tensors[i].device(), tensors[i].scalar_type(), owners.empty() ? 0 : owners[i]};
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.first == kind; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {kind, {}});
    found->second.push_back(tensors[i]);
  }
  return kinds;
}

}  // namespace tandem
