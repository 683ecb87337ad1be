// The flags that say how the agents of several machines meet: torchrun's --nnodes MIN:MAX, --rdzv-*.
#pragma once

#include "launch/run_flags.h"

namespace tandem::launch {

// Whether they are to meet (--rdzv-backend c10d), and not to be told by --node-rank and --master-addr what they are.
bool agents_meet(const RunFlags& flags);
// Into flags.launch. Throws Failure.
void resolve_meeting(RunFlags& flags);

}  // namespace tandem::launch
