#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Stochastic gradient descent with momentum (Sutskever et al., 2013).
class Sgd : public RuleOptimizer {
 public:
  Sgd()
      : RuleOptimizer({.type = "SGD",
                       .settings = {number("lr", 1e-3), number("momentum", 0), any_number("dampening", 0),
                                    number("weight_decay", 0), flag("nesterov"), flag("maximize")},
                       .slots = {"momentum_buffer"},
                       .counts_steps = false}) {}

 protected:
  void check() const override {
    if (on("nesterov") && (get("momentum") == 0 || get("dampening") != 0)) {
      throw Error(ErrorCode::kInvalidArgument, "SGD: option 'nesterov' needs a momentum above 0 and no dampening");
    }
  }

  // A buffer begins as the first gradient; until then there is none.
  void prepare(const at::Tensor&, State&) override {}
  std::int64_t batch_key(const State& state) const override { return state.slots[0].defined(); }

  void fused_step(Batch& batch) override {
    const double momentum = get("momentum");
    const bool first = momentum != 0 && batch.slots[0].empty();
    if (first) {
      for (const at::Tensor& parameter : batch.parameters) batch.slots[0].push_back(at::empty_like(parameter));
    }
    if (momentum == 0) batch.slots[0].clear();
    at::_fused_sgd_(batch.parameters, batch.gradients, batch.slots[0], get("weight_decay"), momentum, get("lr"),
                    get("dampening"), on("nesterov"), on("maximize"), first);
    if (first) keep_slots(batch, 0);
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    const double momentum = get("momentum");
    const double decay = get("weight_decay");
    if (gradient.is_sparse() && (momentum != 0 || decay != 0)) refuse_sparse(" with momentum or weight decay");
    if (on("maximize")) gradient = gradient.neg();
    if (decay != 0) gradient = gradient.add(parameter, decay);
    if (momentum != 0) {
      at::Tensor& buffer = state.slots[0];
      if (buffer.defined()) {
        buffer.mul_(momentum).add_(gradient, 1 - get("dampening"));
      } else {
        buffer = at::empty_like(parameter).copy_(gradient);
      }
      gradient = on("nesterov") ? gradient.add(buffer, momentum) : buffer;
    }
    add_to(parameter, gradient, -get("lr"));
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_sgd() {
  return std::make_unique<Sgd>();
}

}  // namespace tandem::optim
