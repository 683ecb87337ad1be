// Whether all ranks train the same model, and can.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tandem {

class ProcessGroup;

// The group must exchange tensors of each device. Errors: kInvalidArgument naming the first that it does not take.
void check_devices(const ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                   const std::vector<std::string>& labels);

// Compares dtypes, shapes, order and types of devices of `tensors` over all ranks. Every rank throws the same Error
// (kInvalidArgument), naming the first that differs, or none does. `labels` name the tensors ("parameter 'fc1.weight'").
// Blocks.
void verify_same_on_all_ranks(ProcessGroup& group, const std::vector<at::Tensor>& tensors,
                              const std::vector<std::string>& labels);

}  // namespace tandem
