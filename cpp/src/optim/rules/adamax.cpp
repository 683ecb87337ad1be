#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adamax: Adam with the infinity norm (Kingma and Ba, 2014).
class Adamax : public ForeachRule {
 public:
  Adamax()
      : ForeachRule({.type = "Adamax",
                     .settings = {number("lr", 2e-3), beta("beta1", 0.9), beta("beta2", 0.999), number("eps", 1e-8),
                                  number("weight_decay", 0), flag("maximize")},
                     .slots = {"exp_avg", "exp_inf"},
                     .lists = {{"betas", {"beta1", "beta2"}}}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot : {0, 1}) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void foreach_step(Batch& batch) override {
    const double beta1 = get("beta1");
    auto& [exp_avgs, exp_infs, unused] = batch.slots;
    maximize(batch);
    add_decay(batch, get("weight_decay"));
    at::_foreach_lerp_(exp_avgs, batch.gradients, 1 - beta1);
    at::_foreach_mul_(exp_infs, get("beta2"));
    auto sizes = at::_foreach_abs(batch.gradients);
    at::_foreach_add_(sizes, get("eps"));
    at::_foreach_maximum_(exp_infs, sizes);
    const double correction = 1 - std::pow(beta1, static_cast<double>(batch.steps));
    at::_foreach_addcdiv_(batch.parameters, exp_avgs, exp_infs, -get("lr") / correction);
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_adamax() {
  return std::make_unique<Adamax>();
}

}  // namespace tandem::optim
