// A reducer over bare parameters, which are given the gradients that a test wants.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "cpp/comm/threads.h"
#include "tandem/ddp.h"

namespace tandem::testing {

inline std::shared_ptr<ProcessGroup> shared(ProcessGroup& group) {
  return {&group, [](ProcessGroup*) {}};
}

// Parameters of given shapes, in double.
inline std::vector<at::Tensor> parameters_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<at::Tensor> parameters;
  for (const auto& shape : shapes) parameters.push_back(torch::ones(shape, torch::kDouble).set_requires_grad(true));
  return parameters;
}

// One step in which each parameter has the given gradient on this rank; gives the gradients that came back.
inline std::vector<at::Tensor> exchange(DataParallelReducer& reducer, const std::vector<at::Tensor>& parameters,
                                        const std::vector<at::Tensor>& gradients) {
  for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
  reducer.prepare_forward(true);
  std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
  for (std::size_t i = 0; i < parameters.size(); ++i) outputs[0] = outputs[0] + (parameters[i] * gradients[i]).sum();
  reducer.prepare_backward(outputs);
  outputs[0].backward();
  std::vector<at::Tensor> exchanged;
  for (const at::Tensor& parameter : parameters) {
    exchanged.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::Tensor());
  }
  return exchanged;
}

// Numbers that differ by rank and step.
inline at::Tensor gradient(const std::vector<std::int64_t>& shape, int rank, int step = 0) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return torch::sin(torch::arange(count, torch::kDouble) * 1.3 + rank * 2.1 + step * 0.7).view(shape);
}

inline at::Tensor mean_gradient(const std::vector<std::int64_t>& shape, int size, int step = 0) {
  at::Tensor sum = gradient(shape, 0, step);
  for (int rank = 1; rank < size; ++rank) sum = sum + gradient(shape, rank, step);
  return sum / size;
}

inline double difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace tandem::testing
