#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Adam (Kingma and Ba, 2014), AMSGrad (Reddi et al., 2018), and with decoupled weight decay AdamW (Loshchilov and
// Hutter, 2017).
class Adam : public RuleOptimizer {
 public:
  explicit Adam(bool decoupled)
      : RuleOptimizer({.type = decoupled ? "AdamW" : "Adam",
                       .settings = settings(decoupled),
                       .slots = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
                       .lists = {{"betas", {"beta1", "beta2"}}}}),
        always_decoupled_(decoupled) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot = 0; slot < (on("amsgrad") ? 3u : 2u); ++slot) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void fused_step(Batch& batch) override {
    if (!on("amsgrad")) batch.slots[2].clear();
    const auto call = is_decoupled() ? &fused_adamw : &fused_adam;
    call(batch, *this);
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (gradient.is_sparse()) refuse_sparse("; use SGD, Adagrad or SparseAdam for sparse embeddings");
    const double lr = get("lr"), beta1 = get("beta1"), beta2 = get("beta2"), decay = get("weight_decay");
    if (on("maximize")) gradient = gradient.neg();
    if (decay != 0 && is_decoupled()) parameter.mul_(1 - lr * decay);
    if (decay != 0 && !is_decoupled()) gradient = gradient.add(parameter, decay);
    const auto steps = static_cast<double>(state.steps);
    state.slots[0].lerp_(gradient, 1 - beta1);
    state.slots[1].mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
    at::Tensor second = state.slots[1];
    if (on("amsgrad")) second = at::maximum_out(state.slots[2], state.slots[2], second);
    const at::Tensor scale = (second.sqrt() / std::sqrt(1 - std::pow(beta2, steps))).add_(get("eps"));
    parameter.addcdiv_(state.slots[0], scale, -lr / (1 - std::pow(beta1, steps)));
  }

 private:
  static void fused_adam(Batch& b, const Adam& a) {
    at::_fused_adam_(b.parameters, b.gradients, b.slots[0], b.slots[1], b.slots[2], step_tensors(b), a.get("lr"),
                     a.get("beta1"), a.get("beta2"), a.get("weight_decay"), a.get("eps"), a.on("amsgrad"),
                     a.on("maximize"));
  }
  static void fused_adamw(Batch& b, const Adam& a) {
    at::_fused_adamw_(b.parameters, b.gradients, b.slots[0], b.slots[1], b.slots[2], step_tensors(b), a.get("lr"),
                      a.get("beta1"), a.get("beta2"), a.get("weight_decay"), a.get("eps"), a.on("amsgrad"),
                      a.on("maximize"));
  }

  static std::vector<Setting> settings(bool decoupled) {
    std::vector<Setting> all{number("lr", 1e-3),
                             beta("beta1", 0.9),
                             beta("beta2", 0.999),
                             number("eps", 1e-8),
                             number("weight_decay", decoupled ? 1e-2 : 0),
                             flag("amsgrad"),
                             flag("maximize")};
    if (!decoupled) all.push_back(flag("decoupled_weight_decay"));
    return all;
  }
  bool is_decoupled() const { return always_decoupled_ || on("decoupled_weight_decay"); }

  bool always_decoupled_;
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_adam() {
  return std::make_unique<Adam>(false);
}
std::unique_ptr<RuleOptimizer> make_adamw() {
  return std::make_unique<Adam>(true);
}

}  // namespace tandem::optim
