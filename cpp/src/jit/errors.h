// What LibTorch throws of TorchScript, as errors of Tandem's.
#pragma once

#include <string>

#include "tandem/error.h"

namespace tandem::jit {

// The exception in flight, from running `method`: what the script raised, or an operator in it, and where. Errors of
// Tandem's own go on as they are.
[[noreturn]] void rethrow_from_run(const std::string& method);

// The exception in flight without LibTorch's own places in it.
std::string reason_of_current();
// kOutOfMemory where LibTorch's allocator says so, else kInvalidArgument.
ErrorCode code_of_reason(const std::string& reason);

}  // namespace tandem::jit
