// Sequences of different lengths: what LibTorch's torch/nn/utils/rnn.h, which has PackedSequence and the functions that
// pad and pack, leaves out. Source: torch.nn.utils.rnn.
#pragma once

#include <torch/nn/utils/rnn.h>

#include <vector>

#include "tandem/export.h"

namespace tandem::nn::utils {

// The sequences of [length, batch, …], or [batch, length, …] with batch_first: views of the first lengths[i] elements
// of each, `lengths` being int64 of the batch's size. Waits for the device where they are on one. Throws tandem::Error
// (kInvalidArgument) for lengths that do not fit.
TANDEM_API std::vector<at::Tensor> unpad_sequence(const at::Tensor& padded_sequences, const at::Tensor& lengths,
                                                  bool batch_first = false);

// The sequences that were packed, in their order.
TANDEM_API std::vector<at::Tensor> unpack_sequence(const torch::nn::utils::rnn::PackedSequence& packed_sequences);

}  // namespace tandem::nn::utils
