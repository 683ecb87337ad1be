#pragma once

#include <torch/torch.h>

#include <optional>
#include <utility>
#include <vector>

namespace tandem::nn {

// Source: torch.nn.RMSNorm, which LibTorch has no class for.
struct RmsNormSettings {
  std::vector<std::int64_t> normalized_shape;
  std::optional<double> eps{};
  bool elementwise_affine = true;
};

class RmsNormImpl : public torch::nn::Cloneable<RmsNormImpl> {
 public:
  explicit RmsNormImpl(RmsNormSettings settings) : settings_(std::move(settings)) { reset(); }

  void reset() override {
    const bool affine = settings_.elementwise_affine;
    weight_ = register_parameter("weight", affine ? torch::ones(settings_.normalized_shape) : at::Tensor(), affine);
  }
  at::Tensor forward(const at::Tensor& x) {
    const std::optional<at::Tensor> weight = weight_.defined() ? std::make_optional(weight_) : std::nullopt;
    return at::rms_norm(x, settings_.normalized_shape, weight, settings_.eps);
  }

 private:
  RmsNormSettings settings_;
  at::Tensor weight_;
};
TORCH_MODULE_IMPL(RmsNorm, RmsNormImpl);

}  // namespace tandem::nn
