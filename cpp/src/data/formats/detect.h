// What format a file is in, by its content.
#pragma once

#include <optional>
#include <string>

#include "data/data_file.h"
#include "tandem/open_records.h"

namespace tandem {

// Nothing where its first bytes are those of no format. Only CSV is told from other lines by the file's name.
std::optional<RecordFormat> detect_format(DataFile& file);

// For an error about a file that is no RecordIO: "; it looks like …" with what to do, or "".
std::string what_else_it_is(DataFile& file);

}  // namespace tandem
