#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Resilient backpropagation (Riedmiller and Braun, 1993): a step size for each element, by the gradient's signs.
class Rprop : public ForeachRule {
 public:
  Rprop()
      : ForeachRule(
            {.type = "Rprop",
             .settings = {number("lr", 1e-2), number("etaminus", 0.5, {0, 1, true, true}),
                          number("etaplus", 1.2, {1, kInfinity, true}), any_number("step_size_min", 1e-6),
                          any_number("step_size_max", 50), flag("maximize")},
             .slots = {"prev", "step_size"},
             .lists = {{"etas", {"etaminus", "etaplus"}}, {"step_sizes", {"step_size_min", "step_size_max"}}}}) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    if (!state.slots[0].defined()) state.slots[0] = zeros_for(parameter);
    if (!state.slots[1].defined()) {
      state.slots[1] = at::full_like(parameter, get("lr"), at::MemoryFormat::Preserve);
    }
  }

  void foreach_step(Batch& batch) override {
    const double etaminus = get("etaminus"), etaplus = get("etaplus");
    auto& [previous, step_sizes, unused] = batch.slots;
    maximize(batch);
    const auto products = at::_foreach_mul(batch.gradients, previous);
    at::_foreach_copy_(previous, batch.gradients);
    std::vector<at::Tensor> factors;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const at::Tensor turned = products[i].lt(0);
      const at::Tensor factor = at::ones_like(products[i]);
      factor.masked_fill_(products[i].gt(0), etaplus).masked_fill_(turned, etaminus);
      factors.push_back(factor);
      previous[i].masked_fill_(turned, 0);  // where the sign turned, this step goes nowhere
    }
    at::_foreach_mul_(step_sizes, factors);
    at::_foreach_clamp_min_(step_sizes, get("step_size_min"));
    at::_foreach_clamp_max_(step_sizes, get("step_size_max"));
    const auto signs = at::_foreach_sign(previous);
    at::_foreach_addcmul_(batch.parameters, signs, step_sizes, -1);
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_rprop() {
  return std::make_unique<Rprop>();
}

}  // namespace tandem::optim
