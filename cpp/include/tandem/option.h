// A named option of a module or an optimizer.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace tandem {

// Numbers, booleans, strings, tensors and lists of integers, as LibTorch's options take them: {"in_features", 784},
// {"kernel_size", std::vector<int64_t>{3, 3}}, {"reduction", "sum"}. An int is taken where the option is a double; a
// single int where it is one per dimension; a string where it is an enumeration.
struct Option {
  std::string name;
  at::IValue value;
};

// What an object takes under one name.
struct OptionDescription {
  std::string name;
  // bool, int, float, string, tensor, dtype; "int[]" is a list, "int[2]" a number for each of two dimensions or one for
  // all; with '?' at its end none is taken, too.
  std::string type;
  bool required = false;
  at::IValue initial;                // what holds where it is not given
  std::vector<std::string> choices;  // names that it takes, instead of a value of its type
};

}  // namespace tandem
