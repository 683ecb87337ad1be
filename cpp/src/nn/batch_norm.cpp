#include "tandem/batch_norm.h"

#include <torch/nn/modules/batchnorm.h>

#include <utility>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem::nn {

std::optional<double> set_batch_norm_momentum(torch::nn::Module& module, std::optional<double> momentum) {
  if (momentum && !(*momentum >= 0 && *momentum <= 1)) {
    invalid("argument 'momentum' is " + std::to_string(*momentum) + "; it must be from 0 to 1, or none");
  }
  const auto set = [&](auto* norm) { return std::exchange(norm->options.momentum(), momentum); };
  if (auto* norm = module.as<torch::nn::BatchNorm1d>()) return set(norm);
  if (auto* norm = module.as<torch::nn::BatchNorm2d>()) return set(norm);
  if (auto* norm = module.as<torch::nn::BatchNorm3d>()) return set(norm);
  throw Error(ErrorCode::kUnsupported, "a " + module.name() + " is no BatchNorm1d, BatchNorm2d or BatchNorm3d");
}

}  // namespace tandem::nn
