#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adadelta (Zeiler, 2012).
class Adadelta : public ForeachRule {
 public:
  Adadelta()
      : ForeachRule({.type = "Adadelta",
                     .settings = {number("lr", 1), number("rho", 0.9, {0, 1}), number("eps", 1e-6),
                                  number("weight_decay", 0), flag("maximize")},
                     .slots = {"square_avg", "acc_delta"}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot : {0, 1}) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void foreach_step(Batch& batch) override {
    const double rho = get("rho"), eps = get("eps");
    auto& [square_avgs, acc_deltas, unused] = batch.slots;
    maximize(batch);
    add_decay(batch, get("weight_decay"));
    at::_foreach_mul_(square_avgs, rho);
    at::_foreach_addcmul_(square_avgs, batch.gradients, batch.gradients, 1 - rho);
    auto scales = at::_foreach_add(square_avgs, eps);
    at::_foreach_sqrt_(scales);
    auto deltas = at::_foreach_add(acc_deltas, eps);
    at::_foreach_sqrt_(deltas);
    at::_foreach_div_(deltas, scales);
    at::_foreach_mul_(deltas, batch.gradients);
    at::_foreach_mul_(acc_deltas, rho);
    at::_foreach_addcmul_(acc_deltas, deltas, deltas, 1 - rho);
    at::_foreach_add_(batch.parameters, deltas, -get("lr"));
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_adadelta() {
  return std::make_unique<Adadelta>();
}

}  // namespace tandem::optim
