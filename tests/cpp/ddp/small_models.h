// Models, data and steps for tests of data-parallel training.
#pragma once

#include <torch/torch.h>

#include <tuple>
#include <vector>

namespace tandem::testing::small_models {

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int hidden = 50) {
    first = register_module("first", torch::nn::Linear(20, hidden));
    norm = register_module("norm", torch::nn::BatchNorm1d(hidden));
    second = register_module("second", torch::nn::Linear(hidden, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::relu(norm(first(x)))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

// Without batch statistics, so that half a batch on each of two ranks is the same as all of it on one.
struct PlainImpl : torch::nn::Module {
  PlainImpl() {
    first = register_module("first", torch::nn::Linear(20, 50));
    second = register_module("second", torch::nn::Linear(50, 50));
    third = register_module("third", torch::nn::Linear(50, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return third(torch::tanh(second(torch::tanh(first(x))))); }
  torch::nn::Linear first{nullptr}, second{nullptr}, third{nullptr};
};
TORCH_MODULE(Plain);

// Two heads and a part that only the second uses.
struct HeadsImpl : torch::nn::Module {
  HeadsImpl() {
    body = register_module("body", torch::nn::Linear(20, 30));
    left = register_module("left", torch::nn::Linear(30, 10));
    right = register_module("right", torch::nn::Linear(30, 10));
  }
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x) {
    const at::Tensor hidden = torch::tanh(body(x));
    return {left(hidden), right(hidden)};
  }
  torch::nn::Linear body{nullptr}, left{nullptr}, right{nullptr};
};
TORCH_MODULE(Heads);

inline at::Tensor all_parameters(torch::nn::Module& module) {
  std::vector<at::Tensor> flat;
  for (const auto& parameter : module.parameters()) flat.push_back(parameter.detach().reshape({-1}));
  return torch::cat(flat).clone();
}

inline at::Tensor all_gradients(torch::nn::Module& module) {
  std::vector<at::Tensor> flat;
  for (const auto& parameter : module.parameters()) {
    const at::Tensor gradient = parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);
    flat.push_back(gradient.detach().reshape({-1}));
  }
  return torch::cat(flat).clone();
}

// In place, as gradients may be views of buckets.
inline void step(torch::nn::Module& module, double rate) {
  torch::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) {
    if (!parameter.grad().defined()) continue;
    parameter.sub_(parameter.grad(), rate);
    parameter.grad().zero_();
  }
}

template <typename Module>
void copy_parameters(Module& from, Module& to) {
  torch::NoGradGuard no_grad;
  const auto source = from->parameters();
  auto target = to->parameters();
  for (std::size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
}

struct Data {
  Data() : inputs(torch::randn({50, 64, 20})), labels(torch::randint(10, {50, 64})) {}
  at::Tensor inputs, labels;
};

inline at::Tensor loss_of(const at::Tensor& output, const at::Tensor& labels) {
  return torch::nn::functional::cross_entropy(output, labels);
}

}  // namespace tandem::testing::small_models
