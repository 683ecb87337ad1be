#include <algorithm>
#include <cmath>

#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

// Muon (Jordan, 2024): momentum made orthogonal by a Newton-Schulz iteration in bfloat16, for matrices of hidden
// layers.
class Muon : public RuleOptimizer {
 public:
  Muon()
      : RuleOptimizer({.type = "Muon",
                       .settings = {number("lr", 1e-3),
                                    number("weight_decay", 0.1),
                                    number("momentum", 0.95),
                                    flag("nesterov", true),
                                    any_number("ns_a", 3.4445),
                                    any_number("ns_b", -4.7750),
                                    any_number("ns_c", 2.0315),
                                    any_number("eps", 1e-7),
                                    {"ns_steps", 5, Kind::kWhole, {0, 99}},
                                    {"adjust_lr_fn", -1, Kind::kChoice, {}, {"original", "match_rms_adamw"}}},
                       .slots = {"momentum_buffer"},
                       .counts_steps = false,
                       .lists = {{"ns_coefficients", {"ns_a", "ns_b", "ns_c"}}}}) {}

 protected:
  bool has_fused() const override { return false; }

  std::string refusal(const at::Tensor& parameter) const override {
    if (parameter.is_complex()) return "is complex, which Muon does not take; use Adam";
    if (parameter.dim() == 2) return "";
    return "has " + std::to_string(parameter.dim()) +
           " dimensions; Muon takes matrices, leave biases and the like to another optimizer";
  }

  void prepare(const at::Tensor& parameter, State& state) override {
    if (!state.slots[0].defined()) state.slots[0] = zeros_for(parameter);
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (gradient.is_sparse()) refuse_sparse("; use SGD, Adagrad or SparseAdam for sparse embeddings");
    const double lr = get("lr"), momentum = get("momentum");
    state.slots[0].lerp_(gradient, 1 - momentum);
    const at::Tensor update = orthogonal(on("nesterov") ? gradient.lerp(state.slots[0], momentum) : state.slots[0]);
    parameter.mul_(1 - lr * get("weight_decay"));
    parameter.add_(update, -lr * ratio(parameter));
  }

 private:
  at::Tensor orthogonal(const at::Tensor& matrix) const {
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = matrix.to(at::kBFloat16, false, /*copy=*/true);
    if (tall) x = x.t();
    x.div_(x.norm().clamp_min(get("eps")));
    for (double step = 0; step < get("ns_steps"); ++step) {
      const at::Tensor gram = x.mm(x.t());
      const at::Tensor polynomial = at::addmm(gram, gram, gram, get("ns_b"), get("ns_c"));
      x = at::addmm(x, polynomial, x, get("ns_a"));
    }
    return tall ? x.t() : x;
  }

  // Makes updates of matrices of any shape alike in size.
  double ratio(const at::Tensor& parameter) const {
    const auto rows = static_cast<double>(parameter.size(0)), columns = static_cast<double>(parameter.size(1));
    constexpr double kMatchRmsAdamw = 1;
    if (get("adjust_lr_fn") == kMatchRmsAdamw) return 0.2 * std::sqrt(std::max(rows, columns));
    return std::sqrt(std::max(1.0, rows / columns));
  }
};

}  // namespace

std::unique_ptr<RuleOptimizer> make_muon() {
  return std::make_unique<Muon>();
}

}  // namespace tandem::optim
