// How far the ranks' clocks are apart.
#pragma once

#include "tandem/process_group.h"
#include "trace/identity.h"

namespace tandem {

// Agrees on a run's name and epoch, and finds this rank's clock against rank 0's. All ranks call it together. Blocks.
//
// In each of a number of rounds all ranks tell each other when they came: whoever leaves a round leaves it after rank 0
// came, and came before rank 0 left. Every round so bounds the difference of two clocks from both sides, whatever the
// backend; what is left between the bounds is the error. Ranks under one kernel have one steady clock, unless what was
// measured says otherwise.
TraceIdentity align_clocks(ProcessGroup& group);

// Of a process alone: a run of one rank, from now on.
TraceIdentity local_identity();

}  // namespace tandem
