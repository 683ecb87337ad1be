// The operator as which every call travels.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <memory>

namespace tandem::rpc {

// aten::_tandem_call(str function, Any[] arguments) -> Any: runs what this process has under that name. LibTorch's
// messages have room for operators of namespace aten alone, so it stands there.
const std::shared_ptr<torch::jit::Operator>& call_operator_of_messages();

}  // namespace tandem::rpc
