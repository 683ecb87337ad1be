// What a launch takes from Slurm where its flags say nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/schedulers/slurm.h"
#include "launch/run_flags.h"

namespace tandem::launch {

// How many ranks each node of an allocation gets: its tasks; one for each GPU where a node has one task and several
// GPUs.
std::vector<int> ranks_of_nodes(const SlurmAllocation& allocation);

// A launch over the nodes of an allocation: srun starts an agent, which is another `tandem run`, on each.
struct AllocationPlan {
  std::uint64_t job = 0;
  int nodes = 1;
  std::string ranks;  // of each node: "2,1"
};
// Nothing where this process starts the ranks itself: outside of allocations and inside of steps, where flags say where
// to start them, and on the one node of a job. Throws Failure for more nodes than the job has.
std::optional<AllocationPlan> plan_for_allocation(const RunFlags& flags);

// How many ranks each node gets, where no flag says it; one number where it is the same for all.
std::vector<int> counts_of_nodes(const RunFlags& flags);

// In a step with a task on each node the launch is one node of several: sets the flags that say so, unless they are
// given. Throws Failure where srun started several launches on a node.
void take_from_step(RunFlags& flags);

}  // namespace tandem::launch
