// A module's parameters and buffers filled from those of a file.
#pragma once

#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/named_tensors.h"

namespace tandem {

struct MatchOptions {
  bool strict = true;          // whether missing and unexpected names are errors
  bool convert_dtype = false;  // copies where dtypes differ, as Python's load_state_dict does
};

struct Match {
  std::vector<std::string> missing;     // of `into`, left as they were
  std::vector<std::string> unexpected;  // of `from`, not used
};

// Copies each tensor of `from` into that of `into` with its name, in place and outside of autograd. Of one that `into`
// has under several names, as tied weights are, one is enough. Nothing is copied where anything does not fit:
// Error(kInvalidArgument) lists all that is missing, unexpected (both where strict), of another shape or of another
// dtype, names that either has twice, and names of one tensor that come with different values.
TANDEM_API Match load_tensors(const NamedTensors& into, const NamedTensors& from, const MatchOptions& options = {});

}  // namespace tandem
