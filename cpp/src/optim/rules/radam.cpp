#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Rectified Adam (Liu et al., 2019).
class RAdam : public ForeachRule {
 public:
  RAdam()
      : ForeachRule({.type = "RAdam",
                     .settings = {number("lr", 1e-3), beta("beta1", 0.9), beta("beta2", 0.999), number("eps", 1e-8),
                                  number("weight_decay", 0), flag("decoupled_weight_decay"), flag("maximize")},
                     .slots = {"exp_avg", "exp_avg_sq"},
                     .lists = {{"betas", {"beta1", "beta2"}}}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot : {0, 1}) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void foreach_step(Batch& batch) override {
    const double lr = get("lr"), beta1 = get("beta1"), beta2 = get("beta2"), decay = get("weight_decay");
    auto& [exp_avgs, exp_avg_sqs, unused] = batch.slots;
    maximize(batch);
    if (on("decoupled_weight_decay")) {
      if (decay != 0) at::_foreach_mul_(batch.parameters, 1 - lr * decay);
    } else {
      add_decay(batch, decay);
    }
    at::_foreach_lerp_(exp_avgs, batch.gradients, 1 - beta1);
    at::_foreach_mul_(exp_avg_sqs, beta2);
    at::_foreach_addcmul_(exp_avg_sqs, batch.gradients, batch.gradients, 1 - beta2);

    const auto steps = static_cast<double>(batch.steps);
    const double correction1 = 1 - std::pow(beta1, steps), correction2 = 1 - std::pow(beta2, steps);
    // Lengths of the simple moving average that the running mean is like: in the end, and by now.
    const double rho_inf = 2 / (1 - beta2) - 1;
    const double rho = rho_inf - 2 * steps * std::pow(beta2, steps) / correction2;
    if (rho <= 5) {
      at::_foreach_add_(batch.parameters, exp_avgs, -lr / correction1);
      return;
    }
    const double rectification = std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
    auto scales = at::_foreach_sqrt(exp_avg_sqs);
    at::_foreach_add_(scales, get("eps"));
    at::_foreach_addcdiv_(batch.parameters, exp_avgs, scales,
                          -lr / correction1 * std::sqrt(correction2) * rectification);
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_radam() {
  return std::make_unique<RAdam>();
}

}  // namespace tandem::optim
