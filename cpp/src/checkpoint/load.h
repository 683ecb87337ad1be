// Reading one checkpoint.
#pragma once

#include <cstdint>

#include "checkpoint/folder.h"
#include "tandem/checkpoint.h"

namespace tandem::checkpoint {

// Every byte that is read is compared with its checksum. Throws tandem::Error: kDataLoss, kIo, kNotFound for files that
// are torn, flipped, unreadable or missing; kNotFound also for a section that is not there, kInvalidArgument for a part
// that does not lie in its tensor.
Checkpoint read(const Folder& folder, std::int64_t step, const CheckpointRequest& request);

}  // namespace tandem::checkpoint
