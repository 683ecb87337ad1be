// Names of one program's parameters for another's.
#pragma once

#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/named_tensors.h"

namespace tandem {

// Each place of a name that matches `pattern`, a regular expression of ECMAScript, becomes `replacement`, where $1 is
// its first group: {"^module\\.", ""} after DistributedDataParallel in Python, {"layers\\.(\\d+)\\.", "blocks.$1."}.
struct RenameRule {
  std::string pattern, replacement;
};

// What the rules make of names, one rule after the other. Throws Error(kInvalidArgument) where two get one name,
// listing all such, where an expression is not valid, or a name or a part of a rule has more than 1,000 letters.
TANDEM_API std::vector<std::string> renamed(const std::vector<std::string>& names,
                                            const std::vector<RenameRule>& rules);
// Likewise.
TANDEM_API NamedTensors rename_tensors(NamedTensors tensors, const std::vector<RenameRule>& rules);

}  // namespace tandem
