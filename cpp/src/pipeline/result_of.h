// Tensors that a stage or a layer is given by another.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>

#include "autograd_node.h"

namespace tandem {

// The same tensor as the result of an operation, which a stage may change in place, as a leaf it may not.
inline at::Tensor result_of(const at::Tensor& leaf) {
  const auto node = make_node<torch::autograd::Identity>();
  node->set_next_edges(torch::autograd::collect_next_edges(leaf));
  at::Tensor made = leaf.detach();
  torch::autograd::create_gradient_edge(made, node);
  return made;
}

}  // namespace tandem
