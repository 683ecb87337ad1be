#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// RMSprop (Hinton, lecture 6 of Neural Networks for Machine Learning); centered: Graves, 2013.
class RmsProp : public ForeachRule {
 public:
  RmsProp()
      : ForeachRule({.type = "RMSprop",
                     .settings = {number("lr", 1e-2), number("alpha", 0.99), number("eps", 1e-8),
                                  number("weight_decay", 0), number("momentum", 0), flag("centered"), flag("maximize")},
                     .slots = {"square_avg", "momentum_buffer", "grad_avg"}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    const bool needed[] = {true, get("momentum") != 0, on("centered")};
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      if (needed[slot] && !state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void foreach_step(Batch& batch) override {
    const double alpha = get("alpha"), momentum = get("momentum"), lr = get("lr");
    auto& [square_avgs, buffers, grad_avgs] = batch.slots;
    maximize(batch);
    add_decay(batch, get("weight_decay"));
    at::_foreach_mul_(square_avgs, alpha);
    at::_foreach_addcmul_(square_avgs, batch.gradients, batch.gradients, 1 - alpha);
    std::vector<at::Tensor> scales;
    if (on("centered")) {
      at::_foreach_lerp_(grad_avgs, batch.gradients, 1 - alpha);
      scales = at::_foreach_addcmul(square_avgs, grad_avgs, grad_avgs, -1);
      at::_foreach_sqrt_(scales);
    } else {
      scales = at::_foreach_sqrt(square_avgs);
    }
    at::_foreach_add_(scales, get("eps"));
    if (momentum != 0) {
      at::_foreach_mul_(buffers, momentum);
      at::_foreach_addcdiv_(buffers, batch.gradients, scales);
      at::_foreach_add_(batch.parameters, buffers, -lr);
    } else {
      at::_foreach_addcdiv_(batch.parameters, batch.gradients, scales, -lr);
    }
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_rmsprop() {
  return std::make_unique<RmsProp>();
}

}  // namespace tandem::optim
