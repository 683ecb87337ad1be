// What of a damaged file is whole.
#pragma once

#include <optional>
#include <string>

#include "tandem/recordio.h"

namespace tandem::recordio {

// What repair_recordio() would keep and lose, without a file to write. `dialect` is that of version 1, where it is
// known. Throws Error(kNotFound), Error(kIo), or Error(kUnsupported) for a chunk that takes more than
// `most_chunk_bytes`.
RecordIORepair scan_damage(const std::string& file, std::optional<RecordIODialect> dialect,
                           std::uint64_t most_chunk_bytes);

}  // namespace tandem::recordio
