#include <algorithm>
#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Averaged stochastic gradient descent (Polyak and Juditsky, 1992): "ax" is the average.
class Asgd : public ForeachRule {
 public:
  Asgd()
      : ForeachRule({.type = "ASGD",
                     .settings = {number("lr", 1e-2), any_number("lambd", 1e-4), any_number("alpha", 0.75),
                                  any_number("t0", 1e6), number("weight_decay", 0), flag("maximize")},
                     .slots = {"ax"},
                     .scalars = {"eta", "mu"}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    if (!state.slots[0].defined()) state.slots[0] = zeros_for(parameter);
    if (!state.scalars[0]) state.scalars[0] = static_cast<float>(get("lr"));
    if (!state.scalars[1]) state.scalars[1] = 1;
  }

  void foreach_step(Batch& batch) override {
    const double lr = get("lr"), lambd = get("lambd");
    const double eta = *batch.scalars[0], mu = *batch.scalars[1];
    auto& averages = batch.slots[0];
    maximize(batch);
    add_decay(batch, get("weight_decay"));
    at::_foreach_mul_(batch.parameters, 1 - lambd * eta);
    at::_foreach_add_(batch.parameters, batch.gradients, -eta);
    if (mu == 1) {
      at::_foreach_copy_(averages, batch.parameters);
    } else {
      const auto differences = at::_foreach_sub(batch.parameters, averages);
      at::_foreach_add_(averages, differences, mu);
    }
    const auto steps = static_cast<double>(batch.steps);
    batch.scalars[0] = static_cast<float>(lr / std::pow(1 + lambd * lr * steps, get("alpha")));
    batch.scalars[1] = static_cast<float>(1 / std::max(1.0, steps - get("t0")));
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_asgd() {
  return std::make_unique<Asgd>();
}

}  // namespace tandem::optim
