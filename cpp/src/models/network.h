// What networks are made of: layers in a row, and how they are copied.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tandem::models {

// `to`, which was made alike, becomes a copy of `from`: tensors, what requires gradients, modes, and how much running
// statistics take of a batch.
inline void copy_state(const torch::nn::Module& from, torch::nn::Module& to) {
  const at::NoGradGuard no_grad;
  const auto copy = [](const auto& tensors, const auto& copies) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      at::Tensor own = copies[i].value();
      own.set_data(tensors[i].value().detach().clone());
      if (own.is_leaf()) own.set_requires_grad(tensors[i].value().requires_grad());
    }
  };
  copy(from.named_parameters(), to.named_parameters());
  copy(from.named_buffers(), to.named_buffers());
  const auto parts = from.modules(), copies = to.modules();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    copies[i]->train(parts[i]->is_training());  // parents come first
    const auto* const norm = dynamic_cast<const torch::nn::BatchNorm2dImpl*>(parts[i].get());
    if (norm) dynamic_cast<torch::nn::BatchNorm2dImpl&>(*copies[i]).options.momentum(norm->options.momentum());
  }
}

// A network that is copied by making it again from its settings: names of torch::nn::Sequential's modules, for one, do
// not survive clone(). Keeps them in settings_.
template <typename Derived, typename Settings, typename Base = torch::nn::Module>
class Network : public Base {
 public:
  std::shared_ptr<torch::nn::Module> clone(const std::optional<at::Device>& device = std::nullopt) const override {
    auto made = std::make_shared<Derived>(settings_);
    copy_state(*this, *made);
    if (device) made->to(*device);
    return made;
  }

 protected:
  explicit Network(Settings settings) : settings_(std::move(settings)) {}

  Settings settings_;
};

// A part of a network with one input and one output.
class Layer : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& x) = 0;
};

// Modules and functions, one after the other. Names are those of torch.nn.Sequential: the numbers, where functions and
// modules without parameters count as well, or given ones.
class Row : public Layer {
 public:
  template <typename Implementation>
  std::shared_ptr<Implementation> add(std::shared_ptr<Implementation> module, const std::string& name = "") {
    register_module(name.empty() ? std::to_string(steps_.size()) : name, module);
    steps_.push_back([step = module.get()](const at::Tensor& x) { return step->forward(x); });
    return module;
  }
  template <typename Implementation>
  std::shared_ptr<Implementation> add(const torch::nn::ModuleHolder<Implementation>& module,
                                      const std::string& name = "") {
    return add(module.ptr(), name);
  }
  void add_function(std::function<at::Tensor(const at::Tensor&)> function) { steps_.push_back(std::move(function)); }
  void add_relu() {
    add_function([](at::Tensor x) { return at::relu_(x); });
  }
  void add_dropout(double p) {
    add_function([this, p](const at::Tensor& x) { return at::dropout(x, p, is_training()); });
  }

  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor y = x;
    for (const auto& step : steps_) y = step(y);
    return y;
  }

 private:
  std::vector<std::function<at::Tensor(const at::Tensor&)>> steps_;
};

}  // namespace tandem::models
