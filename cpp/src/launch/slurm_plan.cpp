#include "launch/slurm_plan.h"

#include <algorithm>

#include "comm/schedulers/reachable.h"
#include "comm/schedulers/slurm_lists.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

bool names_master(const RunFlags& flags) {
  return !flags.master_addr.empty() || !flags.rdzv_endpoint.empty();
}

// Whether flags say on which machines ranks are started, and by whom.
bool says_where(const RunFlags& flags) {
  return flags.standalone || !flags.node_rank.empty() || (!flags.nnodes.empty() && names_master(flags));
}

}  // namespace

std::vector<int> ranks_of_nodes(const SlurmAllocation& allocation) {
  std::vector<int> ranks = allocation.tasks_per_node;
  // As for launchers of Python: one task a node, for the launcher, and GPUs for the ranks.
  const bool is_for_launchers = std::ranges::all_of(ranks, [](int tasks) { return tasks == 1; });
  if (is_for_launchers && allocation.gpus_per_node > 1) std::ranges::fill(ranks, allocation.gpus_per_node);
  return ranks;
}

std::optional<AllocationPlan> plan_for_allocation(const RunFlags& flags) {
  if (!flags.agent.empty() || says_where(flags)) return std::nullopt;
  const auto allocation = read_slurm_allocation();
  if (!allocation) return std::nullopt;
  AllocationPlan plan;
  plan.job = allocation->job;
  plan.nodes = flags.nnodes.empty() ? allocation->node_count : node_count(flags.nnodes);
  if (plan.nodes > allocation->node_count) {
    throw Failure("--nnodes is " + flags.nnodes + ", but Slurm's job " + std::to_string(plan.job) + " has " +
                  std::to_string(allocation->node_count) + " nodes; leave --nnodes out to use all");
  }
  const bool is_here = plan.nodes == 1 && (allocation->is_on_node || !flags.nnodes.empty());
  if (is_here) return std::nullopt;
  const std::vector<int> ranks = ranks_of_nodes(*allocation);
  for (int node = 0; node < plan.nodes; ++node) {
    plan.ranks += (node ? "," : "") + std::to_string(ranks[static_cast<std::size_t>(node)]);
  }
  return plan;
}

std::vector<int> counts_of_nodes(const RunFlags& flags) {
  if (!flags.agent.empty()) return expand_counts(flags.agent);
  const auto allocation = says_where(flags) || !flags.nnodes.empty() ? std::nullopt : read_slurm_allocation();
  return allocation ? ranks_of_nodes(*allocation) : std::vector<int>{1};
}

void take_from_step(RunFlags& flags) {
  const bool is_agent = !flags.agent.empty();
  if (says_where(flags) || (!flags.nnodes.empty() && !is_agent)) return;
  const auto step = read_slurm_step();
  if (!step || (step->world_size == 1 && !is_agent)) return;
  if (step->world_size != step->node_count) {
    throw Failure(
        "srun started `tandem run` " + std::to_string(step->world_size) + " times on " +
        std::to_string(step->node_count) + (step->node_count == 1 ? " node" : " nodes") +
        ": start one a node (srun --ntasks-per-node=1), leave srun out, or give --standalone for launches that have "
        "nothing to do with each other");
  }
  flags.nnodes = std::to_string(step->node_count);
  flags.node_rank = std::to_string(step->node_rank);
  if (flags.launch.run_id == kNoRunId) flags.launch.run_id = step->name();
  if (step->node_count == 1) return;
  if (!names_master(flags)) {
    flags.master_addr = step->first_address();
    const std::string why = step->node_rank == 0 ? why_unreachable(flags.master_addr) : "";
    if (!why.empty()) throw Failure(why + "; give its address in the network by --master-addr");
  }
  if (flags.master_port.empty() && flags.rdzv_endpoint.empty()) flags.master_port = std::to_string(step->port());
}

}  // namespace tandem::launch
