// Functions that autograd calls when it has added to a parameter's gradient, before the reducer's own.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd_node.h"

namespace tandem {

using WeakNodePointer =
    std::conditional_t<std::is_same_v<NodePointer, std::shared_ptr<torch::autograd::Node>>,
                       std::weak_ptr<torch::autograd::Node>, c10::weak_intrusive_ptr<torch::autograd::Node>>;

class AccumulationHooks {
 public:
  AccumulationHooks() = default;
  ~AccumulationHooks() { clear(); }
  AccumulationHooks(const AccumulationHooks&) = delete;
  AccumulationHooks& operator=(const AccumulationHooks&) = delete;

  // Keeps the parameter's accumulator alive.
  void add(const at::Tensor& parameter, std::function<void()> hook);
  void clear();

 private:
  std::vector<std::pair<NodePointer, std::uintptr_t>> hooks_;
};

}  // namespace tandem
