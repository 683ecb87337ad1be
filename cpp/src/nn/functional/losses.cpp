#include <cmath>

#include "base/invalid.h"
#include "tandem/nn_functional.h"

namespace tandem::nn::functional {
namespace {

at::Tensor reduced(const at::Tensor& loss, std::int64_t reduction, const char* caller) {
  switch (reduction) {
    case at::Reduction::None:
      return loss;
    case at::Reduction::Mean:
      return loss.mean();
    case at::Reduction::Sum:
      return loss.sum();
    default:
      invalid(std::string(caller) + ": reduction is 0 for none, 1 for mean or 2 for sum, not " +
              std::to_string(reduction));
  }
}

// Of the input's dimensions, 1 in one of them or without the last one; an error else.
at::Tensor fitting(const at::Tensor& var, const at::Tensor& input) {
  if (var.sizes() == input.sizes()) return var;
  if (input.dim() > 0 && var.sizes() == input.sizes().slice(0, static_cast<std::size_t>(input.dim()) - 1)) {
    return var.unsqueeze(-1);
  }
  int different = 0;
  bool ones = var.dim() == input.dim();
  for (std::int64_t i = 0; ones && i < var.dim(); ++i) {
    if (var.size(i) == input.size(i)) continue;
    ones = var.size(i) == 1;
    ++different;
  }
  if (ones && different == 1) return var;
  invalid("gaussian_nll_loss: var has sizes " + c10::str(var.sizes()) + "; for an input of " + c10::str(input.sizes()) +
          " it has those, 1 in one place, or those without the last");
}

}  // namespace

at::Tensor gaussian_nll_loss(const at::Tensor& input, const at::Tensor& target, const at::Tensor& var, bool full,
                             double eps, std::int64_t reduction) {
  at::Tensor variance = fitting(var, input);
  if (variance.lt(0).any().item<bool>()) invalid("gaussian_nll_loss: var has negative elements");
  variance = variance.clone();
  {
    const at::NoGradGuard no_grad;  // below eps it has a gradient all the same
    variance.clamp_(eps);
  }
  at::Tensor loss = 0.5 * (variance.log() + (input - target).square() / variance);
  if (full) loss = loss + 0.5 * std::log(2 * M_PI);
  return reduced(loss, reduction, "gaussian_nll_loss");
}

at::Tensor multilabel_soft_margin_loss(const at::Tensor& input, const at::Tensor& target,
                                       const std::optional<at::Tensor>& weight, std::int64_t reduction) {
  if (input.dim() == 0) invalid("multilabel_soft_margin_loss takes an input with a dimension of classes");
  at::Tensor loss = -(target * at::log_sigmoid(input) + (1 - target) * at::log_sigmoid(-input));
  if (weight && weight->defined()) loss = loss * *weight;
  return reduced(loss.sum(-1) / input.size(-1), reduction, "multilabel_soft_margin_loss");
}

}  // namespace tandem::nn::functional
