// Nodes of LibTorch's graph, which 2.11 shares by std::shared_ptr and newer ones by c10::intrusive_ptr.
#pragma once

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/edge.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace tandem {

using NodePointer = decltype(torch::autograd::Edge::function);

// Templates, so that only what this LibTorch has is compiled.
template <typename Node, typename Pointer = NodePointer, typename... Arguments>
auto make_node(Arguments&&... arguments) {
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<torch::autograd::Node>>) {
    return std::shared_ptr<Node>(new Node(std::forward<Arguments>(arguments)...),
                                 [](auto* node) { deleteNode(node); });
  } else {
    return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
  }
}

// torch::autograd::_wrap_outputs, which newer ones have tell the node that they attached.
template <typename... Arguments>
auto wrap_outputs(const Arguments&... arguments) {
  if constexpr (requires { torch::autograd::_wrap_outputs(arguments...); }) {
    return torch::autograd::_wrap_outputs(arguments...);
  } else {
    NodePointer attached;
    return torch::autograd::_wrap_outputs(arguments..., attached);
  }
}

}  // namespace tandem
