// LBFGS, which is no rule: it looks at all parameters together, and evaluates the loss several times a step.
#pragma once

#include <memory>
#include <vector>

#include "tandem/optim.h"

namespace tandem::optim {

std::unique_ptr<Optimizer> make_lbfgs(std::vector<ParameterGroup> groups, const std::vector<Option>& options);

}  // namespace tandem::optim
