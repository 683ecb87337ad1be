// Whether all ranks train the same model.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tandem {

class ProcessGroup;

// Compares dtypes, shapes and order of `tensors` over all ranks. Every rank throws the same Error (kInvalidArgument),
// naming the first that differs, or none does. `labels` name the tensors ("parameter 'fc1.weight'"). Blocks.
void verify_same_on_all_ranks(ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                              const std::vector<std::string>& labels);

}  // namespace tandem
