#pragma once

#include <torch/torch.h>

namespace tandem::nn {

// Source: torch.nn.LayerNorm. LibTorch's class has no `bias`.
struct LayerNormSettings {
  std::vector<std::int64_t> normalized_shape;
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
};

class LayerNormImpl : public torch::nn::Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(LayerNormSettings settings) : settings_(std::move(settings)) { reset(); }

  void reset() override {
    const bool affine = settings_.elementwise_affine;
    weight_ = register_parameter("weight", affine ? torch::ones(settings_.normalized_shape) : at::Tensor(), affine);
    const bool biased = affine && settings_.bias;
    bias_ = register_parameter("bias", biased ? torch::zeros(settings_.normalized_shape) : at::Tensor(), biased);
  }
  at::Tensor forward(const at::Tensor& input) {
    return at::layer_norm(input, settings_.normalized_shape, weight_, bias_, settings_.eps);
  }

 private:
  LayerNormSettings settings_;
  at::Tensor weight_, bias_;
};
TORCH_MODULE(LayerNorm);

}  // namespace tandem::nn
