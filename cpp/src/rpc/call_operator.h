// The operator as which every call travels.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <memory>

namespace tandem::rpc {

// aten::_tandem_call(str function, Any[] arguments) -> Any: runs what this process has under that name. LibTorch's
// messages have room for operators of namespace aten alone, so it stands there.
const std::shared_ptr<torch::jit::Operator>& call_operator_of_messages();

// What that does with what came in a message, which may be anything: gives what the function gave, or a failure_value().
// Throws nothing but std::bad_alloc.
at::IValue run_message(const torch::jit::Operator& op, torch::jit::Stack stack);

}  // namespace tandem::rpc
