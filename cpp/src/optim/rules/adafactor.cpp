#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adafactor (Shazeer and Stern, 2018): of a matrix, second moments of its rows and columns alone.
class Adafactor : public RuleOptimizer {
 public:
  Adafactor()
      : RuleOptimizer({.type = "Adafactor",
                       .settings = {number("lr", 1e-2),
                                    number("beta2_decay", -0.8, {-kInfinity, 0}),
                                    {"eps1", std::nan(""), Kind::kUnset},
                                    number("eps2", 1e-3),
                                    number("d", 1, {1}),
                                    number("weight_decay", 0),
                                    flag("maximize")},
                       .slots = {"row_var", "col_var", "variance"},
                       .lists = {{"eps", {"eps1", "eps2"}}}}) {}

 protected:
  bool has_fused() const override { return false; }

  std::string refusal(const at::Tensor& parameter) const override {
    return parameter.is_complex() ? "is complex, which Adafactor does not take; use Adam" : "";
  }

  std::vector<std::int64_t> slot_sizes(std::size_t slot, const at::Tensor& parameter) const override {
    std::vector<std::int64_t> sizes = parameter.sizes().vec();
    if (slot < 2 && sizes.size() > 1) sizes[sizes.size() - 1 - slot] = 1;
    return sizes;
  }

  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const bool needed = (parameter.dim() > 1) == (slot < 2);
      if (needed && !state.slots[slot].defined()) {
        state.slots[slot] = at::zeros(slot_sizes(slot, parameter), parameter.options().requires_grad(false));
      }
    }
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (gradient.is_sparse()) refuse_sparse("; use SGD, Adagrad or SparseAdam for sparse embeddings");
    const double lr = get("lr"), decay = get("weight_decay");
    const double eps1 = std::isnan(get("eps1")) ? epsilon(parameter.scalar_type()) : get("eps1");
    if (on("maximize")) gradient = gradient.neg();
    const auto steps = static_cast<double>(state.steps);
    const double towards = std::pow(steps, get("beta2_decay"));
    const double rate = std::max(get("eps2"), root_mean_square(parameter)) * std::min(lr, 1 / std::sqrt(steps));
    if (decay != 0) parameter.mul_(1 - lr * decay);
    at::Tensor estimate;
    if (parameter.dim() > 1) {
      const auto& [rows, columns, unused] = state.slots;
      rows.lerp_(at::norm(gradient, 2, {-1}, true).square_().div_(gradient.size(-1)), towards);
      columns.lerp_(at::norm(gradient, 2, {-2}, true).square_().div_(gradient.size(-2)), towards);
      estimate = rows.matmul(columns).div_(rows.mean({-2}, true).clamp_min_(eps1));
    } else {
      state.slots[2].lerp_(gradient * gradient, towards);
      estimate = state.slots[2].clone();
    }
    const at::Tensor update = estimate.clamp_min_(eps1 * eps1).rsqrt_().mul_(gradient);
    parameter.add_(update, -rate / std::max(1.0, root_mean_square(update) / get("d")));
  }

 private:
  static double root_mean_square(const at::Tensor& tensor) {
    return tensor.norm(2).item<double>() / std::sqrt(static_cast<double>(tensor.numel()));
  }
  // Of torch.finfo.
  static double epsilon(at::ScalarType dtype) {
    switch (dtype) {
      case at::kDouble:
        return std::numeric_limits<double>::epsilon();
      case at::kHalf:
        return std::numeric_limits<c10::Half>::epsilon();
      case at::kBFloat16:
        return std::numeric_limits<c10::BFloat16>::epsilon();
      default:
        return std::numeric_limits<float>::epsilon();
    }
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_adafactor() {
  return std::make_unique<Adafactor>();
}

}  // namespace tandem::optim
