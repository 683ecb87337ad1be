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
  bool found = false;
  std::optional<double> before;
  const auto set = [&](auto* norm) {
    if (!norm) return;
    const auto was = std::exchange(norm->options.momentum(), momentum);
    if (!std::exchange(found, true)) before = was;
  };
  const auto set_in = [&](torch::nn::Module& one) {
    set(one.as<torch::nn::BatchNorm1d>());
    set(one.as<torch::nn::BatchNorm2d>());
    set(one.as<torch::nn::BatchNorm3d>());
  };
  set_in(module);
  for (const auto& part : module.modules(/*include_self=*/false)) set_in(*part);
  if (found) return before;
  throw Error(ErrorCode::kUnsupported,
              "a " + module.name() + " is no BatchNorm1d, BatchNorm2d or BatchNorm3d, and has none in it");
}

}  // namespace tandem::nn
