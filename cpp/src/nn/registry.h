#pragma once

#include "nn/modules/wrap.h"

namespace tandem::nn {

// Throws Error (kNotFound), which lists the known types.
Factory find_factory(const std::string& type);

// Adds a table to the registry: made as a constant of a file of a room above this one, before main() begins.
class Registration {
 public:
  explicit Registration(at::ArrayRef<Registered> table);
};

}  // namespace tandem::nn
