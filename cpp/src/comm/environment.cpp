#include "comm/environment.h"

#include <limits>
#include <optional>
#include <vector>

#include "base/invalid.h"
#include "comm/schedulers/reachable.h"
#include "comm/schedulers/slurm.h"

namespace tandem {
namespace {

constexpr const char* kRemedy = "; start the program with `tandem run`, which sets it";
constexpr int kMost = std::numeric_limits<int>::max();

int required_number(const char* name, int low) {
  return static_cast<int>(environment_number(name, low, kMost, kRemedy).value());
}

// What is to be done where nothing says which ranks there are.
std::string how_to_start(int missing) {
  const std::string them = missing == 1 ? "it" : "them";
  if (const auto allocation = read_slurm_allocation()) {
    return "this process is in Slurm's job " + std::to_string(allocation->job) +
           ", but no task of a step: start it with `srun program`, or with `tandem run program`, which uses all nodes "
           "of the job, or set " +
           them;
  }
  if (environment_variable("PET_RDZV_ENDPOINT") || environment_variable("PET_NNODES")) {
    return "the environment is one for a launcher (PET_NNODES and others): start the program with `tandem run "
           "program`, which reads them, or set " +
           them;
  }
  return "start the program with `tandem run -n 2 program` (or torchrun), srun or mpirun, or set " + them;
}

void require(const std::vector<const char*>& names) {
  std::string missing;
  int count = 0;
  for (const char* name : names) {
    if (environment_variable(name)) continue;
    missing += (count++ ? ", " : "") + std::string(name);
  }
  if (count == 0) return;
  invalid("the environment lacks " + missing + ", which " + (count == 1 ? "tells" : "tell") +
          " a process its place among the ranks; " + how_to_start(count));
}

// The training operator counts pods in RANK, and processes in WORLD_SIZE.
void check_pods(int rank) {
  const auto processes = environment_variable("PET_NPROC_PER_NODE");
  if (!processes || environment_variable("LOCAL_RANK")) return;
  if (processes->find_first_not_of("0123456789") != std::string::npos || *processes == "1") return;
  invalid("RANK " + std::to_string(rank) + " is the number of a pod, which PET_NPROC_PER_NODE gives " + *processes +
          " processes: start the program with `tandem run program`, which starts them");
}

void fill_numbers(const std::optional<JobPlace>& place, int* rank, int* world_size) {
  if (place) {
    if (*rank < 0) *rank = place->rank;
    if (*world_size < 0) *world_size = place->world_size;
  } else {
    std::vector<const char*> needed;
    if (*rank < 0) needed.push_back("RANK");
    if (*world_size < 0) needed.push_back("WORLD_SIZE");
    require(needed);
    if (*rank < 0) {
      *rank = required_number("RANK", 0);
      check_pods(*rank);
    }
    if (*world_size < 0) *world_size = required_number("WORLD_SIZE", 1);
  }
  check_rank(*rank, *world_size);
}

void find_meeting_point(const JobPlace& place, LaunchEnvironment* result) {
  const auto address = environment_variable("MASTER_ADDR");
  const auto port = environment_number("MASTER_PORT", 1, 65535);
  if (address && port) {
    result->master_address = *address;
    result->master_port = static_cast<std::uint16_t>(*port);
    return;
  }
  result->master_address = address.value_or(place.address);
  if (result->master_address.empty()) {
    invalid(place.launcher + " started " + std::to_string(place.world_size) +
            " processes, but nothing says on which host rank 0 is; " + place.how_to_say);
  }
  if (port) {
    result->master_port = static_cast<std::uint16_t>(*port);
  } else if (place.port != 0) {
    result->master_port = place.port;
  } else if (address) {
    result->master_port = kDefaultMasterPort;
  } else if (result->world_size > 1) {
    result->session_folder = place.session_folder;
    if (result->session_folder.empty()) {
      invalid(place.launcher + " started " + std::to_string(place.world_size) +
              " processes, but nothing says at which port they meet; " + place.how_to_say);
    }
  }
  if (!port) result->note = place.note;
  // Rank 0 is to listen where the scheduler's name for its host leads the others.
  if (!address && result->rank == 0 && place.local_world_size != place.world_size) {
    const std::string why = why_unreachable(place.address);
    if (!why.empty()) invalid(why + "; set MASTER_ADDR to its address in the network: " + place.how_to_say);
  }
}

bool is_true(const std::optional<std::string>& text) {
  return text && (*text == "True" || *text == "true" || *text == "1");
}

}  // namespace

std::optional<JobPlace> scheduler_place() {
  if (environment_variable("RANK")) return std::nullopt;
  std::optional<JobPlace> place = find_job_place();
  if (!place) return std::nullopt;
  const auto other = environment_number("WORLD_SIZE", 1, kMost);
  if (other && *other != place->world_size) {
    invalid("WORLD_SIZE is " + std::to_string(*other) + ", but " + place->launcher + " started " +
            std::to_string(place->world_size) + "; unset WORLD_SIZE, or set RANK as well");
  }
  return place;
}

void check_rank(int rank, int world_size) {
  if (world_size < 1) invalid("the world size is " + std::to_string(world_size) + "; it must be 1 or more");
  if (rank < 0 || rank >= world_size) {
    invalid("rank " + std::to_string(rank) + " is outside a world of " + std::to_string(world_size) +
            ": ranks are 0 to " + std::to_string(world_size - 1) + " (RANK, WORLD_SIZE)");
  }
}

void read_rank_and_size(int* rank, int* world_size) {
  const bool needs_any = *rank < 0 || *world_size < 0;
  fill_numbers(needs_any ? scheduler_place() : std::nullopt, rank, world_size);
}

LaunchEnvironment read_launch_environment(int rank, int world_size) {
  const std::optional<JobPlace> place = scheduler_place();
  if (!place) {
    std::vector<const char*> needed;
    if (rank < 0) needed.push_back("RANK");
    if (world_size < 0) needed.push_back("WORLD_SIZE");
    needed.push_back("MASTER_ADDR");
    needed.push_back("MASTER_PORT");
    require(needed);
  }
  LaunchEnvironment result;
  result.rank = rank;
  result.world_size = world_size;
  fill_numbers(place, &result.rank, &result.world_size);
  if (place) {
    result.job = place->job;
    find_meeting_point(*place, &result);
  } else {
    result.master_address = *environment_variable("MASTER_ADDR");
    result.master_port =
        static_cast<std::uint16_t>(environment_number("MASTER_PORT", 1, 65535, kRemedy).value());
  }
  result.agent_hosts_store = is_true(environment_variable("TORCHELASTIC_USE_AGENT_STORE"));
  // An agent's store outlives the workers of one attempt: what these wrote must not be read by the next.
  result.job_prefix = "tandem/" + environment_variable("TORCHELASTIC_RUN_ID").value_or(result.job) + "/" +
                      environment_variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return result;
}

}  // namespace tandem
