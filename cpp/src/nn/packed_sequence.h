// A packed sequence from its four tensors, as the C ABI hands it over.
#pragma once

#include <torch/nn/utils/rnn.h>

namespace tandem::nn {

// `sorted_indices` and `unsorted_indices` may be undefined. Throws tandem::Error (kInvalidArgument) for tensors that
// are no packed sequence: LibTorch's recurrent kernels trust them.
torch::nn::utils::rnn::PackedSequence packed_sequence(const at::Tensor& data, const at::Tensor& batch_sizes,
                                                      const at::Tensor& sorted_indices,
                                                      const at::Tensor& unsorted_indices);

}  // namespace tandem::nn
