#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adam with Nesterov momentum (Dozat, 2016).
class NAdam : public ForeachRule {
 public:
  NAdam()
      : ForeachRule({.type = "NAdam",
                     .settings = {number("lr", 2e-3), beta("beta1", 0.9), beta("beta2", 0.999), number("eps", 1e-8),
                                  number("weight_decay", 0), number("momentum_decay", 4e-3),
                                  flag("decoupled_weight_decay"), flag("maximize")},
                     .slots = {"exp_avg", "exp_avg_sq"},
                     .scalars = {"mu_product"},
                     .lists = {{"betas", {"beta1", "beta2"}}}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot : {0, 1}) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
    if (!state.scalars[0]) state.scalars[0] = 1;
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
    const auto steps = static_cast<double>(batch.steps);
    const auto momentum_at = [&](double step) {
      return beta1 * (1 - 0.5 * std::pow(0.96, step * get("momentum_decay")));
    };
    const double mu = momentum_at(steps), next = momentum_at(steps + 1);
    batch.scalars[0] = *batch.scalars[0] * static_cast<float>(mu);
    const double product = *batch.scalars[0];
    at::_foreach_lerp_(exp_avgs, batch.gradients, 1 - beta1);
    at::_foreach_mul_(exp_avg_sqs, beta2);
    at::_foreach_addcmul_(exp_avg_sqs, batch.gradients, batch.gradients, 1 - beta2);
    auto scales = at::_foreach_div(exp_avg_sqs, 1 - std::pow(beta2, steps));
    at::_foreach_sqrt_(scales);
    at::_foreach_add_(scales, get("eps"));
    at::_foreach_addcdiv_(batch.parameters, batch.gradients, scales, -lr * (1 - mu) / (1 - product));
    at::_foreach_addcdiv_(batch.parameters, exp_avgs, scales, -lr * next / (1 - product * next));
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_nadam() {
  return std::make_unique<NAdam>();
}

}  // namespace tandem::optim
