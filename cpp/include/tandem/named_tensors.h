// Tensors with names, in an order: a module's parameters and buffers, or what a file has.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace tandem {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

}  // namespace tandem
