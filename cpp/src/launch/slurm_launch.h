// Launches on all nodes of an allocation of Slurm's.
#pragma once

#include <string>
#include <vector>

#include "launch/slurm_plan.h"

namespace tandem::launch {

// Has srun start an agent on each node, `tandem run` with these arguments, and waits: signals go to the agents, whose
// exit code comes back. `ending`: the signals that end the launch, after at most `grace` seconds and some more. Throws
// Failure where srun cannot be started.
int launch_in_allocation(const AllocationPlan& plan, const std::vector<std::string>& arguments,
                         const std::vector<int>& ending, double grace);

}  // namespace tandem::launch
