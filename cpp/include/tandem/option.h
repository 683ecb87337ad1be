// A named option of a module or an optimizer.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace tandem {

// Numbers, booleans, strings, tensors and lists of integers, as LibTorch's options take them: {"in_features", 784},
// {"kernel_size", std::vector<int64_t>{3, 3}}, {"reduction", "sum"}. An int is taken where the option is a double; a
// single int where it is one per dimension; a string where it is an enumeration.
struct Option {
  std::string name;
  at::IValue value;
};

}  // namespace tandem
