// What torch.save's files hold, as tdm_value has it.
#pragma once

#include <string>

#include "tandem/pt_file.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// An owned value. Throws Error (kUnsupported) for what no tag can say, naming its place.
tdm_value from_pt(const PtValue& value);
// `name` is the argument's in errors. Tensors are detached.
PtValue to_pt(const tdm_value& value, const std::string& name);

}  // namespace tandem::capi
