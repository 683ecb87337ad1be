// What optimizers remember of a parameter, by name: for who finds states of another one.
#pragma once

#include <string>
#include <vector>

namespace tandem::optim {

// Of the optimizer that make_optimizer() makes by this name, all that some options have it remember: "sum" and "step" of
// Adagrad. Throws Error (kNotFound) for an unknown type and for LBFGS, whose states are not those of one parameter.
std::vector<std::string> state_names(const std::string& type);

// Those that may remember all of these.
std::vector<std::string> types_that_remember(const std::vector<std::string>& names);

}  // namespace tandem::optim
