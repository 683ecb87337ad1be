// A step of an LSTM as one node of the graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace tandem::nn {

struct LstmWeights {
  at::Tensor input, hidden;            // [4 · hidden size, input size], [4 · hidden size, hidden size]
  at::Tensor input_bias, hidden_bias;  // [4 · hidden size], or undefined, which is left to LibTorch
};

// The hidden and the cell state after a step, both [batch, hidden size]: the numbers that at::lstm_cell gives, and its
// gradients. LibTorch makes a node of the graph of each of the step's 20 operators, and evaluates as many when it goes
// back, which takes longer than the arithmetic of a small step; this is one node. Second derivatives go through
// LibTorch's operators. Nothing where what is given asks for those: on other devices, while calls are recorded or what
// they are given is cast, and for sizes that do not fit, which they refuse.
std::optional<std::tuple<at::Tensor, at::Tensor>> lstm_step(const at::Tensor& input, const at::Tensor& hidden,
                                                            const at::Tensor& cell, const LstmWeights& weights);

}  // namespace tandem::nn
