// Reductions of what one process has, for collectives that are composed of others.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <string>
#include <vector>

namespace tandem {

// A tensor and the operation for it.
struct Reduction {
  at::Tensor tensor;
  c10d::ReduceOp op;
};

// Reduces `rows` ([ranks, numel]) over its first dimension into `output` (numel elements, dense), in order of rank.
// AVG of whole numbers rounds towards zero; sums of bool are logical.
void reduce_rows(const at::Tensor& rows, const at::Tensor& output, const c10d::ReduceOp& op);

// Divides in place by the number of ranks, as AVG has it.
void divide(const std::vector<at::Tensor>& tensors, int ranks);

// "SUM".
std::string name_of(const c10d::ReduceOp& op);

}  // namespace tandem
