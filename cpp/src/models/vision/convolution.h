// Convolutions as torchvision's networks have them.
#pragma once

#include "models/network.h"

namespace tandem::models {

// Padded so that the size stays at stride 1.
inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel_size,
                                     std::int64_t stride = 1, std::int64_t groups = 1, std::int64_t dilation = 1,
                                     bool bias = false) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel_size)
                               .stride(stride)
                               .padding((kernel_size - 1) / 2 * dilation)
                               .dilation(dilation)
                               .groups(groups)
                               .bias(bias));
}

inline at::Tensor mean_of_pixels(const at::Tensor& x) {
  return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

}  // namespace tandem::models
