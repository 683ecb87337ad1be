#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adagrad (Duchi et al., 2011).
class Adagrad : public RuleOptimizer {
 public:
  Adagrad()
      : RuleOptimizer({.type = "Adagrad",
                       .settings = {number("lr", 1e-2), number("lr_decay", 0), number("weight_decay", 0),
                                    number("initial_accumulator_value", 0), number("eps", 1e-10), flag("maximize")},
                       .slots = {"sum"}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    if (!state.slots[0].defined()) {
      state.slots[0] = at::full_like(parameter, get("initial_accumulator_value"), at::MemoryFormat::Preserve);
    }
  }

  void fused_step(Batch& batch) override {
    at::_fused_adagrad_(batch.parameters, batch.gradients, batch.slots[0], step_tensors(batch), get("lr"),
                        get("lr_decay"), get("weight_decay"), get("eps"), on("maximize"));
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    const double decay = get("weight_decay");
    const double rate = get("lr") / (1 + static_cast<double>(state.steps - 1) * get("lr_decay"));
    if (on("maximize")) gradient = gradient.neg();
    if (gradient.is_sparse()) {
      if (decay != 0) refuse_sparse(" with weight decay");
      step_sparse(parameter, gradient.coalesce(), state.slots[0], rate);
      return;
    }
    if (decay != 0) gradient = gradient.add(parameter, decay);
    state.slots[0].addcmul_(gradient, gradient);
    parameter.addcdiv_(gradient, state.slots[0].sqrt().add_(get("eps")), -rate);
  }

 private:
  // Only rows that the gradient has.
  void step_sparse(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& sum, double rate) const {
    const auto like_gradient = [&](const at::Tensor& values) {
      return at::sparse_coo_tensor(gradient.indices(), values, gradient.sizes());
    };
    sum.add_(like_gradient(gradient.values().square()));
    const at::Tensor scale = sum.sparse_mask(gradient).coalesce().values().sqrt().add_(get("eps"));
    add_to(parameter, like_gradient(gradient.values() / scale), -rate);
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_adagrad() {
  return std::make_unique<Adagrad>();
}

}  // namespace tandem::optim
