// The options of loaders.
#pragma once

#include "tandem/loader.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// The defaults for NULL. Throws Error(kInvalidArgument) naming what cannot be.
LoaderOptions read_loader_options(const tdm_loader_options* options);

}  // namespace tandem::capi
