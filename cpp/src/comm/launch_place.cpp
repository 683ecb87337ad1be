#include "tandem/launch_place.h"

#include <limits>

#include "comm/environment.h"
#include "comm/schedulers/slurm.h"

namespace tandem {
namespace {

int number_or_unknown(const char* name) {
  return static_cast<int>(environment_number(name, 0, std::numeric_limits<int>::max()).value_or(-1));
}

// Whether nothing says that there are other processes. A part of what a launcher says is a mistake, which is named.
bool is_started_alone() {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    if (environment_variable(name)) return false;
  }
  // In a job for several tasks a program that srun did not start was most likely to be started by it.
  const auto allocation = read_slurm_allocation();
  return !allocation || allocation->tasks() <= 1;
}

}  // namespace

LaunchPlace launch_place() {
  if (const auto place = scheduler_place()) {
    check_rank(place->rank, place->world_size);
    return {place->launcher,         place->rank,     place->world_size, place->local_rank,
            place->local_world_size, place->node_rank};
  }
  LaunchPlace result;
  if (is_started_alone()) return result;
  result.rank = result.world_size = -1;
  read_rank_and_size(&result.rank, &result.world_size);
  result.launcher = "the environment";
  result.local_rank = number_or_unknown("LOCAL_RANK");
  result.local_world_size = number_or_unknown("LOCAL_WORLD_SIZE");
  result.node_rank = number_or_unknown("GROUP_RANK");
  return result;
}

}  // namespace tandem
