// Modules that can be cloned, in double, and what a plain pass through them gives.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tuple>
#include <utility>
#include <vector>

#include "tandem/data_parallel.h"

namespace tandem::testing {

// Numbers that look random and are the same each time.
inline at::Tensor numbers(const std::vector<std::int64_t>& shape, double seed = 0) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return torch::sin(torch::arange(count, torch::kDouble) * 1.7 + seed).view(shape);
}

inline at::Tensor words(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return (torch::arange(count, torch::kLong) * 7 % 11).view(shape);
}

struct MlpImpl : torch::nn::Cloneable<MlpImpl> {
  MlpImpl() { reset(); }
  void reset() override {
    a = register_module("a", torch::nn::Linear(6, 8));
    b = register_module("b", torch::nn::Linear(8, 3));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) { return b(torch::tanh(a(x))); }

  torch::nn::Linear a{nullptr}, b{nullptr};
};
TORCH_MODULE(Mlp);

struct CnnImpl : torch::nn::Cloneable<CnnImpl> {
  CnnImpl() { reset(); }
  void reset() override {
    conv = register_module("conv", torch::nn::Conv2d(1, 3, 2));
    norm = register_module("norm", torch::nn::BatchNorm2d(3));
    end = register_module("end", torch::nn::Linear(6, 2));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) { return end(torch::relu(norm(conv(x.view({-1, 1, 2, 3})))).flatten(1)); }

  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Linear end{nullptr};
};
TORCH_MODULE(Cnn);

// Embedding, LSTM and linear layer over [batch, length] of words.
struct LanguageImpl : torch::nn::Cloneable<LanguageImpl> {
  explicit LanguageImpl(bool sparse_gradients = false) : sparse(sparse_gradients) { reset(); }
  void reset() override {
    embedding = register_module("embedding", torch::nn::Embedding(torch::nn::EmbeddingOptions(11, 4).sparse(sparse)));
    lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(4, 5).batch_first(true)));
    end = register_module("end", torch::nn::Linear(5, 3));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& text) { return end(std::get<0>(lstm(embedding(text)))); }

  bool sparse;
  torch::nn::Embedding embedding{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear end{nullptr};
};
TORCH_MODULE(Language);

// One layer under two names, and a weight that is used twice.
struct SharedImpl : torch::nn::Cloneable<SharedImpl> {
  SharedImpl() { reset(); }
  void reset() override {
    a = register_module("a", torch::nn::Linear(6, 6));
    b = register_module("b", a);
    weight = register_parameter("weight", torch::ones({6, 6}));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) { return b(a(x.matmul(weight)).matmul(weight)); }

  torch::nn::Linear a{nullptr}, b{nullptr};
  at::Tensor weight;
};
TORCH_MODULE(Shared);

using Pair = std::pair<at::Tensor, at::Tensor>;

// Nested inputs and outputs, beside what is no tensor.
struct NestedImpl : torch::nn::Cloneable<NestedImpl> {
  NestedImpl() { reset(); }
  void reset() override {
    layer = register_module("layer", torch::nn::Linear(6, 2));
    to(torch::kDouble);
  }
  std::tuple<Pair, std::vector<at::Tensor>, std::map<std::string, at::Tensor>> forward(
      const Pair& both, const std::vector<at::Tensor>& list, const std::optional<at::Tensor>& missing, double factor,
      const at::Tensor& scalar) {
    EXPECT_FALSE(missing.has_value());
    at::Tensor sum = both.first;
    for (const at::Tensor& one : list) sum = sum + one;
    const at::Tensor y = layer(sum) * factor;
    return {{y, layer(both.second) * scalar}, {y.sum(1), y.mean()}, {{"squared", y * y}}};
  }

  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Nested);

struct DroppingImpl : torch::nn::Cloneable<DroppingImpl> {
  DroppingImpl() { reset(); }
  void reset() override {
    layer = register_module("layer", torch::nn::Linear(6, 6));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) { return torch::dropout(layer(x), 0.5, is_training()); }

  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Dropping);

// What it is told to do in forward, on the thread of a replica.
struct DoingImpl : torch::nn::Cloneable<DoingImpl> {
  explicit DoingImpl(std::function<at::Tensor(DoingImpl&, const at::Tensor&)> body) : does(std::move(body)) { reset(); }
  void reset() override { weight = register_parameter("weight", torch::ones({2}, torch::kDouble)); }
  at::Tensor forward(const at::Tensor& x) { return does(*this, x); }

  std::function<at::Tensor(DoingImpl&, const at::Tensor&)> does;
  at::Tensor weight;
};
TORCH_MODULE(Doing);

inline ReplicaOptions replicas(int count) {
  ReplicaOptions options;
  options.replicas = count;
  return options;
}

// Gradients of the parameters, undefined where there are none, which are then dropped.
inline std::vector<at::Tensor> take_gradients(torch::nn::Module& module) {
  std::vector<at::Tensor> gradients;
  for (at::Tensor& parameter : module.parameters()) {
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
  return gradients;
}

inline void expect_close(const at::Tensor& a, const at::Tensor& b, const std::string& what = "") {
  ASSERT_EQ(a.defined(), b.defined()) << what;
  if (!a.defined()) return;
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  ASSERT_EQ(a.layout(), b.layout()) << what;
  const at::Tensor x = a.is_sparse() ? a.to_dense() : a, y = b.is_sparse() ? b.to_dense() : b;
  if (x.numel() == 0) return;
  EXPECT_LE((x - y).abs().max().item<double>(), 1e-12) << what;
}

inline void expect_close(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b,
                         const std::string& what = "") {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i], what + " " + std::to_string(i));
}

}  // namespace tandem::testing
