// What a backend is handed for a tensor, and what is refused before it gets that far.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "comm/local_reduction.h"
#include "tandem/process_group.h"

namespace tandem {

[[noreturn]] void refuse(const std::string& collective, const std::string& reason);

// Throws for undefined tensors and for those with gaps or overlaps.
void check_dense(const at::Tensor& tensor, const std::string& collective);

// For a reduction of `tensor` in place. `few_types`: the backend reduces what Gloo does.
Reduction to_reduce(const at::Tensor& tensor, ReduceOp op, const char* collective, bool few_types);
// The operation for a reduce_scatter of such tensors; throws for those that have none.
c10d::ReduceOp to_reduce_locally(const at::Tensor& tensor, ReduceOp op, const char* collective);

// Bytes can be moved whatever they mean; Gloo knows few types.
at::Tensor to_move(const at::Tensor& tensor, bool few_types);

}  // namespace tandem
