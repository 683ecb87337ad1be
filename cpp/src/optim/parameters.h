// What optimizers ask of parameters and of closures.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "tandem/optim.h"

namespace tandem::optim {

// Throws Error (kInvalidArgument) where one cannot be trained, or `refusal` says why not. The first `count` are there
// already, and were checked.
void check_parameters(const char* type, const std::vector<at::Tensor>& parameters, std::size_t count,
                      const std::function<std::string(const at::Tensor&)>& refusal);

// What `closure` gives, with grad mode on. Throws Error (kInvalidArgument) where that is no loss.
at::Tensor evaluated(const char* type, const Optimizer::Closure& closure);

}  // namespace tandem::optim
