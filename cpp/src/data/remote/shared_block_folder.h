// One BlockFolder for all files of a process that keep their blocks in the same place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/remote/block_folder.h"

namespace tandem::remote {

// The one of that folder, however its path is written, and limit; it goes with the last that holds it. Thread-safe.
std::shared_ptr<BlockFolder> shared_block_folder(const std::string& folder, std::uint64_t limit_bytes);

}  // namespace tandem::remote
