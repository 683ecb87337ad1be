// The rules. Formulas as in torch.optim, which each class's comment names the paper of.
#include <cmath>

#include "optim/rule.h"

namespace tandem::optim {
namespace {

at::Tensor zeros_for(const at::Tensor& parameter) {
  return at::zeros_like(parameter, at::MemoryFormat::Preserve);
}

// Stochastic gradient descent with momentum (Sutskever et al., 2013).
class Sgd : public RuleOptimizer {
 public:
  Sgd()
      : RuleOptimizer("SGD",
                      {{"lr", 1e-3},
                       {"momentum", 0},
                       {"dampening", 0},
                       {"weight_decay", 0},
                       {"nesterov", 0, true},
                       {"maximize", 0, true}},
                      {"momentum_buffer"}, false) {}

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
    parameter.add_(gradient, -get("lr"));
  }
};

// Adam (Kingma and Ba, 2014), AMSGrad (Reddi et al., 2018), and with decoupled weight decay AdamW (Loshchilov and
// Hutter, 2017).
class Adam : public RuleOptimizer {
 public:
  explicit Adam(bool decoupled)
      : RuleOptimizer(decoupled ? "AdamW" : "Adam",
                      {{"lr", 1e-3},
                       {"beta1", 0.9, false, 1},
                       {"beta2", 0.999, false, 1},
                       {"eps", 1e-8},
                       {"weight_decay", decoupled ? 1e-2 : 0},
                       {"amsgrad", 0, true},
                       {"maximize", 0, true}},
                      {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, true),
        decoupled_(decoupled) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    for (std::size_t slot = 0; slot < (on("amsgrad") ? 3u : 2u); ++slot) {
      if (!state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void fused_step(Batch& batch) override {
    if (!on("amsgrad")) batch.slots[2].clear();
    const auto call = decoupled_ ? &fused_adamw : &fused_adam;
    call(batch, *this);
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (gradient.is_sparse()) refuse_sparse("; use SGD or Adagrad for sparse embeddings");
    const double lr = get("lr"), beta1 = get("beta1"), beta2 = get("beta2"), decay = get("weight_decay");
    if (on("maximize")) gradient = gradient.neg();
    if (decay != 0 && decoupled_) parameter.mul_(1 - lr * decay);
    if (decay != 0 && !decoupled_) gradient = gradient.add(parameter, decay);
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
    at::_fused_adam_(b.parameters, b.gradients, b.slots[0], b.slots[1], b.slots[2], b.steps, a.get("lr"),
                     a.get("beta1"), a.get("beta2"), a.get("weight_decay"), a.get("eps"), a.on("amsgrad"),
                     a.on("maximize"));
  }
  static void fused_adamw(Batch& b, const Adam& a) {
    at::_fused_adamw_(b.parameters, b.gradients, b.slots[0], b.slots[1], b.slots[2], b.steps, a.get("lr"),
                      a.get("beta1"), a.get("beta2"), a.get("weight_decay"), a.get("eps"), a.on("amsgrad"),
                      a.on("maximize"));
  }

  bool decoupled_;
};

// Adagrad (Duchi et al., 2011).
class Adagrad : public RuleOptimizer {
 public:
  Adagrad()
      : RuleOptimizer("Adagrad",
                      {{"lr", 1e-2},
                       {"lr_decay", 0},
                       {"weight_decay", 0},
                       {"initial_accumulator_value", 0},
                       {"eps", 1e-10},
                       {"maximize", 0, true}},
                      {"sum"}, true) {}

 protected:
  void prepare(const at::Tensor& parameter, State& state) override {
    if (!state.slots[0].defined()) {
      state.slots[0] = at::full_like(parameter, get("initial_accumulator_value"), at::MemoryFormat::Preserve);
    }
  }

  void fused_step(Batch& batch) override {
    at::_fused_adagrad_(batch.parameters, batch.gradients, batch.slots[0], batch.steps, get("lr"), get("lr_decay"),
                        get("weight_decay"), get("eps"), on("maximize"));
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
    parameter.add_(like_gradient(gradient.values() / scale), -rate);
  }
};

// RMSprop (Hinton, lecture 6 of Neural Networks for Machine Learning); centered: Graves, 2013.
class RmsProp : public RuleOptimizer {
 public:
  RmsProp()
      : RuleOptimizer("RMSprop",
                      {{"lr", 1e-2},
                       {"alpha", 0.99},
                       {"eps", 1e-8},
                       {"weight_decay", 0},
                       {"momentum", 0},
                       {"centered", 0, true},
                       {"maximize", 0, true}},
                      {"square_avg", "momentum_buffer", "grad_avg"}, true) {}

 protected:
  bool has_fused() const override { return false; }
  void fused_step(Batch&) override {}

  void prepare(const at::Tensor& parameter, State& state) override {
    const bool needed[] = {true, get("momentum") != 0, on("centered")};
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      if (needed[slot] && !state.slots[slot].defined()) state.slots[slot] = zeros_for(parameter);
    }
  }

  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) override {
    if (gradient.is_sparse()) refuse_sparse("; use SGD or Adagrad for sparse embeddings");
    const double alpha = get("alpha"), momentum = get("momentum"), decay = get("weight_decay"), lr = get("lr");
    if (on("maximize")) gradient = gradient.neg();
    if (decay != 0) gradient = gradient.add(parameter, decay);
    state.slots[0].mul_(alpha).addcmul_(gradient, gradient, 1 - alpha);
    at::Tensor scale;
    if (on("centered")) {
      state.slots[2].lerp_(gradient, 1 - alpha);
      scale = state.slots[0].addcmul(state.slots[2], state.slots[2], -1).sqrt_();
    } else {
      scale = state.slots[0].sqrt();
    }
    scale.add_(get("eps"));
    if (momentum != 0) {
      state.slots[1].mul_(momentum).addcdiv_(gradient, scale);
      parameter.add_(state.slots[1], -lr);
    } else {
      parameter.addcdiv_(gradient, scale, -lr);
    }
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<ParameterGroup> groups,
                                          const std::vector<Option>& options) {
  std::unique_ptr<RuleOptimizer> made;
  if (type == "SGD") {
    made = std::make_unique<Sgd>();
  } else if (type == "Adam" || type == "AdamW") {
    made = std::make_unique<Adam>(type == "AdamW");
  } else if (type == "Adagrad") {
    made = std::make_unique<Adagrad>();
  } else if (type == "RMSprop") {
    made = std::make_unique<RmsProp>();
  } else {
    throw Error(ErrorCode::kNotFound,
                "there is no optimizer '" + type + "'; there are Adagrad, Adam, AdamW, RMSprop, SGD");
  }
  if (groups.empty()) throw Error(ErrorCode::kInvalidArgument, type + ": there is no group of parameters");
  made->set_defaults(options);
  for (ParameterGroup& group : groups) made->add_group(std::move(group));
  return made;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<at::Tensor> parameters,
                                          const std::vector<Option>& options) {
  return make_optimizer(type, std::vector<ParameterGroup>{{std::move(parameters), {}}}, options);
}

}  // namespace tandem::optim
