// Whether all ranks train the same model, and can.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tandem {

class ProcessGroup;

// Names the first of `tensors` that the group does not exchange, for its device, and says what to do; empty when there is
// none. `labels` name the tensors ("parameter 'fc1.weight'").
std::string not_exchanged(const ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                          const std::vector<std::string>& labels);

// Compares dtypes, shapes, order and types of devices of `tensors` over all ranks. Every rank throws the same Error
// (kInvalidArgument), naming the first that differs, or none does; likewise where some rank has a `complaint` of its own.
// Blocks.
void verify_same_on_all_ranks(ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                              const std::vector<std::string>& labels, const std::string& complaint);

}  // namespace tandem
