#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/invalid.h"
#include "nn/same_kind.h"
#include "tandem/nn_utils.h"

namespace tandem::nn::utils {
namespace {

void need_dense(const at::Tensor& tensor, const char* what, std::size_t index) {
  if (!tensor.defined()) invalid(std::string(what) + " " + std::to_string(index) + " is undefined");
  if (tensor.layout() == at::kStrided) return;
  invalid(std::string(what) + " " + std::to_string(index) + " is " + c10::str(tensor.layout()) +
          "; norms and limits are those of dense tensors");
}

std::vector<at::Tensor> gradients(at::TensorList parameters) {
  std::vector<at::Tensor> found;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].defined()) invalid("parameter " + std::to_string(i) + " is undefined");
    const at::Tensor& grad = parameters[i].grad();
    if (!grad.defined()) continue;
    need_dense(grad, "the gradient of parameter", i);
    found.push_back(grad);
  }
  return found;
}

void scale(at::TensorList gradients, double max_norm, const at::Tensor& total_norm) {
  const at::Tensor factor = (max_norm / (total_norm + 1e-6)).clamp_max(1.0);
  for (const auto& [kind, same] : by_kind(gradients)) at::_foreach_mul_(same, factor.to(kind.device));
}

}  // namespace

at::Tensor get_total_norm(at::TensorList tensors, double norm_type, bool error_if_nonfinite) {
  const at::NoGradGuard no_grad;
  if (tensors.empty()) return at::zeros({});
  for (std::size_t i = 0; i < tensors.size(); ++i) need_dense(tensors[i], "tensor", i);
  std::vector<at::Tensor> norms;
  // The foreach kernels of GPUs take tensors of one device and dtype.
  for (const auto& [kind, same] : by_kind(tensors)) {
    for (const at::Tensor& norm : at::_foreach_norm(same, norm_type)) {
      norms.push_back(norm.to(tensors.front().device()));
    }
  }
  at::Tensor total = at::linalg_vector_norm(at::stack(norms), norm_type);
  if (error_if_nonfinite && !std::isfinite(total.item<double>())) {
    invalid("the norm of order " + c10::str(norm_type) + " of " + std::to_string(tensors.size()) +
            " tensors is infinite or NaN, so that they cannot be scaled to it; without error_if_nonfinite they are");
  }
  return total;
}

void clip_grads_with_norm_(at::TensorList parameters, double max_norm, const at::Tensor& total_norm) {
  if (total_norm.numel() != 1) {
    invalid("total_norm is one number, not a tensor of sizes " + c10::str(total_norm.sizes()));
  }
  const at::NoGradGuard no_grad;
  scale(gradients(parameters), max_norm, total_norm.reshape({}));
}

at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> found = gradients(parameters);
  at::Tensor total = get_total_norm(found, norm_type, error_if_nonfinite);
  scale(found, max_norm, total);
  return total;
}

void clip_grad_value_(at::TensorList parameters, double clip_value) {
  const at::NoGradGuard no_grad;
  for (const auto& [kind, same] : by_kind(gradients(parameters))) {
    at::_foreach_clamp_min_(same, -clip_value);
    at::_foreach_clamp_max_(same, clip_value);
  }
}

}  // namespace tandem::nn::utils
