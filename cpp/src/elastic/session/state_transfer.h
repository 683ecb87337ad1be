// A commit on its way from the ranks that have it to those that do not.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/staging.h"
#include "tandem/checkpoint.h"
#include "tandem/process_group.h"

namespace tandem::elastic {

// Where a commit is: what is replicated of a checkpoint, at a step.
struct Commit {
  std::int64_t step = 0;
  CheckpointContent content;  // copies, on the CPU
};

// Brings the commit of the ranks `holders`, rising, to all others of the group, into memory of `staging`. All ranks call
// it; each of the holders sends a part of what each of the others needs. What differs between them, such as BatchNorm's
// statistics, which DDP takes from rank 0, comes from the first, as do values. `mine`, this rank's own, is what comes out
// on holders, and stays as it is. Blocks.
//
// Errors, on all ranks: kDataLoss where what has arrived is not what was sent; kInvalidArgument where `mine` of a rank
// has tensors of other names, dtypes or shapes than the first holder's, of which it lists some. And those of the group's
// collectives.
Commit transfer(ProcessGroup& group, const std::vector<int>& holders, checkpoint::Staging& staging, const Commit& mine);

}  // namespace tandem::elastic
