// What of a damaged file is whole.
#pragma once

#include <optional>
#include <string>

#include "tandem/recordio.h"

namespace tandem::recordio {

// What repair_recordio() would keep and lose, without a file to write. `dialect` is that of version 1, where it is
// known. Throws Error(kNotFound) or Error(kIo).
RecordIORepair scan_damage(const std::string& file, std::optional<RecordIODialect> dialect);

}  // namespace tandem::recordio
