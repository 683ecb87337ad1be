// Starting values that torchvision gives to all modules of one kind.
#pragma once

#include <torch/torch.h>

#include "tandem/nn_init.h"

namespace tandem::models {

inline void zero_bias(const at::Tensor& bias) {
  if (bias.defined()) nn::init::zeros_(bias);
}

// He et al. 2015, by the fan out, as torchvision does for networks with ReLU.
inline void initialize_convolutions(torch::nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* convolution = module->as<torch::nn::Conv2d>()) {
      nn::init::kaiming_normal_(convolution->weight, 0, "fan_out", "relu");
      zero_bias(convolution->bias);
    }
  }
}

}  // namespace tandem::models
