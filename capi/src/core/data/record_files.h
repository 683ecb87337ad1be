// How files of records are opened.
#pragma once

#include "tandem/open_records.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// The defaults for NULL. Throws Error(kInvalidArgument) naming what cannot be.
OpenRecordsOptions read_open_records_options(const tdm_open_records_options* options);

}  // namespace tandem::capi
