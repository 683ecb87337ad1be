// What an archive records of the tensors that its program takes and gives, on which compiled code relies.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exported/program.h"

namespace tandem::exported {

struct TensorLayout {
  at::ScalarType dtype = at::kFloat;
  std::vector<Size> sizes, strides;
};

struct CallLayout {
  struct Input {
    std::size_t index;  // among the graph's
    std::string name;
    TensorLayout layout;
  };
  // Compiled code gives tensors alone: numbers as tensors without dimensions, and nothing for what never changes.
  struct Output {
    enum class Kind { kTensor, kInt, kDouble, kBool, kFixed };
    Kind kind = Kind::kTensor;
    TensorLayout layout = {};
    at::IValue fixed = {};
  };

  // Throws tandem::Error: kUnsupported for inputs that compiled code does not take, which are named.
  static CallLayout of(const Program& program);

  std::vector<Input> inputs;  // those that are not constant
  std::vector<Output> outputs;
  std::set<std::string> reads;  // the parameters and buffers that nodes or outputs take, by their names in the model
};

}  // namespace tandem::exported
