// tdm_value to and from what methods of TorchScript, and functions on other workers, take and give.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "tandem/tandem.h"

namespace tandem::capi {

// Lists and dicts of any elements; the method's schema says later of which. `name` is the argument's in errors.
at::IValue to_script(const tdm_value& value, const std::string& name, int depth = 0);

// An owned value. Throws Error (kUnsupported) for what no tag can say.
tdm_value from_script(const at::IValue& value, int depth = 0);

}  // namespace tandem::capi
