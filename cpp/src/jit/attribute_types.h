// Whether a module's attributes are what its code says that they are.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace tandem::jit {

// LibTorch puts what a file's pickle has into attributes without looking. Throws tandem::Error (kDataLoss) naming the
// first that is of another type.
void require_attribute_types(const at::IValue& module, const std::string& name);

}  // namespace tandem::jit
