// Collectives that autograd sees: their backward exchanges gradients between ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "tandem/export.h"
#include "tandem/process_group.h"

// All ranks call them in the same order, and run backward through the same of them: on every rank the inputs must
// require gradients alike, and every result must be part of what backward starts from. Inputs stay as they are; results
// are new tensors. Dtypes and errors are those of ProcessGroup; reductions are differentiable for SUM and AVG, else
// kInvalidArgument. Source: torch.distributed.nn.functional.
namespace tandem::differentiable {

using Group = std::shared_ptr<ProcessGroup>;

// root's tensor, on every rank; `tensor` has the same shape everywhere. Gradient: the sum of all ranks', on root; zeros
// elsewhere.
TANDEM_API at::Tensor broadcast(const Group& group, const at::Tensor& tensor, int root);
// The reduction on every rank. Gradient: the same reduction of gradients.
TANDEM_API at::Tensor all_reduce(const Group& group, const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
// The reduction on root; elsewhere zeros, which have no part in it. Gradient: root's, on every rank (for AVG divided).
TANDEM_API at::Tensor reduce(const Group& group, const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum);
// All ranks' tensors, of one shape, in order of rank, on root; elsewhere zeros. Gradient: scattered from root.
TANDEM_API std::vector<at::Tensor> gather(const Group& group, const at::Tensor& tensor, int root);
// Of root's tensors, one a rank, this rank's. Other ranks give as many of the same shape, whose values do not matter.
// Gradient: gathered to root; zeros elsewhere.
TANDEM_API at::Tensor scatter(const Group& group, const std::vector<at::Tensor>& tensors, int root);
// All ranks' tensors in order of rank; `sizes`, when they differ, says the shape of each. Gradient: each rank's is
// the sum of what all ranks have for it.
TANDEM_API std::vector<at::Tensor> all_gather(const Group& group, const at::Tensor& tensor,
                                              const std::vector<std::vector<std::int64_t>>& sizes = {});
// The reduction of what all ranks give for this one: inputs[r] is for rank r. Gradient: gathered from all.
TANDEM_API at::Tensor reduce_scatter(const Group& group, const std::vector<at::Tensor>& inputs,
                                     ReduceOp op = ReduceOp::kSum);
// inputs[r] goes to rank r; the result's r-th comes from it and has the shape of what it sent: outputs' shapes, when
// they are not those of the inputs, are `sizes`. Gradient: sent back.
TANDEM_API std::vector<at::Tensor> all_to_all(const Group& group, const std::vector<at::Tensor>& inputs,
                                              const std::vector<std::vector<std::int64_t>>& sizes = {});
// The same with rows of one tensor, as ProcessGroup::all_to_all_single() has it.
TANDEM_API at::Tensor all_to_all_single(const Group& group, const at::Tensor& input,
                                        const std::vector<std::int64_t>& output_splits = {},
                                        const std::vector<std::int64_t>& input_splits = {});

}  // namespace tandem::differentiable
