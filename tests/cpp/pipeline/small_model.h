// A model with tied embedding and output layer that can be cut into any number of stages, and one process that trains it
// whole.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tandem/pipeline.h"

namespace tandem::testing::pipelines {

using Tensors = std::vector<at::Tensor>;

constexpr int kWords = 11, kWidth = 4;

// Layer `i` of `layers`: the first embeds, all compute, the last gives logits by the embedding's weight.
struct Layer {
  Layer(int index, int layers, bool tied) : first(index == 0), last(index + 1 == layers) {
    const std::string prefix = "layer" + std::to_string(index);
    weight = parameter(prefix + ".weight", {kWidth, kWidth}, index);
    bias = parameter(prefix + ".bias", {kWidth}, index);
    if (first || last) table = parameter(first || tied ? "table" : "head", {kWords, kWidth}, index);
  }
  // The same numbers whoever makes it, also on several threads at a time.
  at::Tensor parameter(const std::string& name, const std::vector<std::int64_t>& sizes, int index) {
    const at::Tensor numbers = torch::arange(c10::multiply_integers(sizes), torch::kDouble);
    at::Tensor made = torch::sin(numbers * 1.7 + index).view(sizes).requires_grad_(true);
    parameters.emplace_back(name, made);
    return made;
  }
  at::Tensor forward(at::Tensor x) const {
    if (first) x = torch::embedding(table, x);
    x = torch::tanh(torch::linear(x, weight, bias)) + x.mean(1, /*keepdim=*/true);
    return last ? torch::linear(x, table) : x;
  }
  bool first, last;
  at::Tensor weight, bias, table;
  std::vector<std::pair<std::string, at::Tensor>> parameters;
};

inline at::Tensor words(int step, int rows, int length) {
  return (torch::arange(rows * length, torch::kLong) * 7 + step * 3).remainder(kWords).view({rows, length});
}
inline at::Tensor answers(int step, int rows, int length) {
  return (torch::arange(rows * length, torch::kLong) * 5 + step).remainder(kWords).view({rows, length});
}
inline at::Tensor loss_of(const Tensors& outputs, const Tensors& targets) {
  return torch::nn::functional::cross_entropy(outputs[0].flatten(0, 1), targets[0].flatten());
}

inline void descend(std::map<std::string, at::Tensor>& parameters) {
  torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : parameters) {
    parameter.sub_(parameter.grad(), 0.1);
    parameter.grad().zero_();
  }
}

// The stage that is one layer of as many.
inline PipelineStage stage_of(int index, int layers, bool tied, std::map<std::string, at::Tensor>* parameters) {
  const Layer layer(index, layers, tied);
  PipelineStage stage;
  stage.index = index;
  stage.parameters = layer.parameters;
  if (tied && layer.table.defined()) stage.tied = {"table"};
  stage.forward = [layer](const Tensors& inputs) { return Tensors{layer.forward(inputs.at(0))}; };
  for (const auto& [name, tensor] : layer.parameters) (*parameters)[name] = tensor;
  return stage;
}

}  // namespace tandem::testing::pipelines
