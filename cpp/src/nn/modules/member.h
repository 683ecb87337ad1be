// Where a torch::nn module keeps the parameter that its forward() reads.
#pragma once

#include <torch/nn/modules/rnn.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace tandem::nn {

// In a member of its name or, of recurrent modules, in a list; null where nobody may put another tensor.
template <typename Implementation>
at::Tensor* member_of(Implementation& module, const std::string& name) {
  at::Tensor* found = nullptr;
  const auto is = [&](const char* known, at::Tensor& member) {
    if (name == known) found = &member;
  };
  if constexpr (requires { is("", module.weight); }) is("weight", module.weight);
  if constexpr (requires { is("", module.bias); }) is("bias", module.bias);
  if constexpr (requires { is("", module.weight_hh); }) {
    is("weight_ih", module.weight_ih);
    is("weight_hh", module.weight_hh);
  }
  using Recurrent = torch::nn::detail::RNNImplBase<Implementation>;
  if constexpr (std::is_base_of_v<Recurrent, Implementation>) {
    struct Access : Recurrent {
      static auto names() { return &Access::flat_weights_names_; }
      static auto weights() { return &Access::flat_weights_; }
    };
    const auto& names = module.*Access::names();
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    if (place < static_cast<std::ptrdiff_t>(names.size())) found = &(module.*Access::weights())[place];
  }
  return found;
}

}  // namespace tandem::nn
