#pragma once

#include "nn/modules/wrap.h"

namespace tandem::nn {

// Throws Error (kNotFound), which lists the known types.
Factory find_factory(const std::string& type);

}  // namespace tandem::nn
