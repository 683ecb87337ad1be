#include "core/operators/on_cpu.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <unordered_set>

namespace tandem::capi {

bool is_on_cpu(const std::vector<at::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return is_on_cpu(tensor); });
}

bool is_on_cpu(const at::IValue& value) {
  if (value.isTensor()) return is_on_cpu(value.toTensor());
  if (value.isDevice()) return value.toDevice().is_cpu();
  if (value.isGenerator()) return value.toGenerator().device().is_cpu();
  if (value.isTensorList() || value.isOptionalTensorList()) {
    const auto elements = value.toListRef();
    return std::all_of(elements.begin(), elements.end(), [](const at::IValue& element) { return is_on_cpu(element); });
  }
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    return std::all_of(elements.begin(), elements.end(), [](const at::IValue& element) { return is_on_cpu(element); });
  }
  if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) {
      if (!is_on_cpu(item.value())) return false;
    }
  }
  return true;
}

bool graph_is_on_cpu(const std::vector<at::Tensor>& roots) {
  using torch::autograd::Node;
  std::vector<Node*> waiting;
  std::unordered_set<Node*> seen;
  const auto add = [&](Node* node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  for (const at::Tensor& root : roots) {
    if (!is_on_cpu(root)) return false;
    add(torch::autograd::impl::gradient_edge(root).function.get());
  }
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    if (!node->device().is_cpu()) return false;
    for (const auto& edge : node->next_edges()) add(edge.function.get());
  }
  return true;
}

}  // namespace tandem::capi
