// Whether work is the CPU's alone, so that any thread may do it: other devices and their streams are current on one
// thread, and LibTorch's state of a thread does not have them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace tandem::capi {

inline bool is_on_cpu(const at::Tensor& tensor) {
  return !tensor.defined() || tensor.device().is_cpu();
}
bool is_on_cpu(const std::vector<at::Tensor>& tensors);

// Tensors, lists of them, devices and generators; what else there is lies nowhere.
bool is_on_cpu(const at::IValue& value);

// All that backward from these tensors may compute, down to the leaves. Takes some tens of nanoseconds a node.
bool graph_is_on_cpu(const std::vector<at::Tensor>& roots);

}  // namespace tandem::capi
