#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adam that updates the rows of a sparse gradient alone, their moments too.
class SparseAdam : public RuleOptimizer {
 public:
  SparseAdam()
      : RuleOptimizer({.type = "SparseAdam",
                       .settings = {number("lr", 1e-3, {0, kInfinity, true}), beta("beta1", 0.9), beta("beta2", 0.999),
                                    number("eps", 1e-8, {0, kInfinity, true}), flag("maximize")},
                       .slots = {"exp_avg", "exp_avg_sq"},
                       .lists = {{"betas", {"beta1", "beta2"}}},
                       .step_dtype = at::kLong}) {}

 protected:
  bool has_fused() const override { return false; }

  std::string refusal(const at::Tensor& parameter) const override {
    if (parameter.layout() != at::kStrided) return "is sparse; SparseAdam takes dense parameters with sparse gradients";
    return parameter.is_complex() ? "is complex, which SparseAdam does not take; use SGD or Adagrad" : "";
  }

  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot : {0, 1}) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (!gradient.is_sparse()) {
      throw Error(ErrorCode::kUnsupported, "SparseAdam cannot apply a dense gradient; use Adam");
    }
    if (on("maximize")) gradient = gradient.neg();
    gradient = gradient.coalesce();
    const at::Tensor values = gradient.values();
    if (values.numel() == 0) return;
    const double beta1 = get("beta1"), beta2 = get("beta2");
    const auto steps = static_cast<double>(state.steps);
    const auto like_gradient = [&](const at::Tensor& numbers) {
      return at::sparse_coo_tensor(gradient.indices(), numbers, gradient.sizes());
    };
    // What the rows have, moved towards `target` and returned.
    const auto move = [&](const at::Tensor& mean, const at::Tensor& target, double beta) {
      const at::Tensor old = mean.sparse_mask(gradient).coalesce().values();
      const at::Tensor change = target.sub(old).mul_(1 - beta);
      mean.add_(like_gradient(change));
      return change.add(old);
    };
    const at::Tensor mean = move(state.slots[0], values, beta1);
    const at::Tensor scale = move(state.slots[1], values.square(), beta2).sqrt_().add_(get("eps"));
    const double correction1 = 1 - std::pow(beta1, steps), correction2 = 1 - std::pow(beta2, steps);
    add_to(parameter, like_gradient(mean.div(scale)), -get("lr") * std::sqrt(correction2) / correction1);
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_sparse_adam() {
  return std::make_unique<SparseAdam>();
}

}  // namespace tandem::optim
