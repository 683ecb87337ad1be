// Calls on tensors, as those see them who move and combine bytes: what a label says, and where the bytes are.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <cstdint>
#include <vector>

#include "comm/shm/kernels.h"
#include "comm/shm/layout.h"
#include "comm/shm/pieces.h"

namespace tandem::shm {

Element element_of(at::ScalarType dtype);

Label label_of(CollectiveKind collective, std::size_t bytes, std::int64_t root = -1);
// Sets what the label says of a reduction, and finds who computes it. Throws Error (kInvalidArgument) where nobody
// does.
Kernel kernel_for(Label* label, const at::Tensor& tensor, const c10d::ReduceOp& op);

Pieces piece_of(const at::Tensor& tensor);
std::vector<Pieces> pieces_of(const std::vector<at::Tensor>& tensors);
// Equal parts of one tensor, one for each rank.
std::vector<Pieces> equal_parts(const at::Tensor& tensor, int count);
// Parts of a tensor along its first dimension, of `splits` rows each, or equal ones when there are none. Throws Error
// (kInvalidArgument) when they do not fit; `which` is for that: "output".
std::vector<Pieces> split_parts(const at::Tensor& tensor, const std::vector<std::int64_t>& splits, int count,
                                const char* which);

}  // namespace tandem::shm
