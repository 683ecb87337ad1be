// What can go from one worker to another.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

namespace tandem::rpc {

// Whether tensors of a device may be sent; CPU tensors always may.
using TakesDevice = std::function<bool(at::Device)>;

// LibTorch ends the process where it cannot write a tensor, and keeps references of a message that it does not send. So
// this is asked before it gets a value. Looks at any depth. `what`: "argument 2", "the result". Throws kInvalidArgument for
// tensors of other layouts than strided and sparse COO, or on a device that is not taken, and for values that are
// none of those that tandem/rpc.h names.
void check_sendable(const at::IValue& value, const std::string& what, const TakesDevice& takes = {});

// Why LibTorch cannot write this tensor; "" where it can.
std::string why_not_sendable(const at::Tensor& tensor);

}  // namespace tandem::rpc
