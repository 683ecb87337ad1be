// What is handed to a reducer: checked, each tensor once.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tandem {

struct ParameterList {
  std::vector<at::Tensor> tensors;
  std::vector<std::string> names;  // empty: numbers
  std::vector<bool> sparse_gradients;
};

// What c10d::Reducer crashes on, or trains wrongly, is an Error (kInvalidArgument) that names it. What comes a second
// time, or is named in `ignored`, is dropped.
ParameterList check_parameters(ParameterList given, const std::vector<std::string>& ignored);
std::vector<at::Tensor> check_buffers(std::vector<at::Tensor> buffers);

// "parameter 'fc.weight'"
std::string called(const std::string& name);

}  // namespace tandem
