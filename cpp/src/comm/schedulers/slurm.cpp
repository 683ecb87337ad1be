#include "comm/schedulers/slurm.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "base/invalid.h"
#include "comm/environment_variable.h"
#include "comm/schedulers/slurm_lists.h"

namespace tandem {
namespace {

constexpr std::int64_t kMostNumber = std::numeric_limits<std::uint32_t>::max();
// From here on a step's number says what it is instead: batch script, shell, container.
constexpr std::int64_t kFirstSpecialStep = 0xfffffff0;

// The first of these that is set: names changed between releases.
std::optional<std::int64_t> first_number(std::initializer_list<const char*> names, std::int64_t low) {
  for (const char* name : names) {
    if (const auto number = environment_number(name, low, kMostNumber)) return number;
  }
  return std::nullopt;
}

std::optional<std::string> first_text(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto text = environment_variable(name)) return text;
  }
  return std::nullopt;
}

std::optional<std::int64_t> job_number() {
  return first_number({"SLURM_JOB_ID", "SLURM_JOBID"}, 0);
}

std::optional<std::int64_t> step_number() {
  const auto step = first_number({"SLURM_STEP_ID", "SLURM_STEPID"}, 0);
  return step && *step < kFirstSpecialStep && environment_variable("SLURM_PROCID") ? step : std::nullopt;
}

int count_or(std::initializer_list<const char*> names, int otherwise) {
  const auto count = first_number(names, 1);
  if (count && *count > static_cast<std::int64_t>(kMostOfSlurm)) {
    invalid(std::string(*names.begin()) + " is " + std::to_string(*count) + ", more than any job of Slurm's has");
  }
  return static_cast<int>(count.value_or(otherwise));
}

// "4", "gpu:4", "a100:2,v100:1".
int count_of_gpus(const std::string& text) {
  int sum = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::size_t colon = text.rfind(':', end);
    const std::size_t first = colon == std::string::npos || colon < begin ? begin : colon + 1;
    int count = 0;
    const auto [stop, failure] = std::from_chars(text.data() + first, text.data() + end, count);
    if (failure != std::errc() || stop != text.data() + end || count < 0 || count > 1024) return 0;
    sum += count;
    begin = end + 1;
  }
  return sum;
}

}  // namespace

std::optional<SlurmStep> read_slurm_step() {
  const auto job = job_number(), number = step_number();
  if (!job || !number) return std::nullopt;
  SlurmStep step;
  step.job = static_cast<std::uint64_t>(*job);
  step.step = static_cast<std::uint64_t>(*number);
  step.world_size = count_or({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}, 1);
  step.rank = static_cast<int>(environment_number("SLURM_PROCID", 0, step.world_size - 1).value());
  step.node_count = count_or({"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, 1);
  step.node_rank = static_cast<int>(environment_number("SLURM_NODEID", 0, step.node_count - 1).value_or(0));
  step.local_rank = static_cast<int>(environment_number("SLURM_LOCALID", 0, step.world_size - 1).value_or(-1));
  if (const auto counts = first_text({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})) {
    const std::vector<int> tasks = expand_counts(*counts);
    if (static_cast<std::size_t>(step.node_rank) < tasks.size()) {
      step.local_world_size = tasks[static_cast<std::size_t>(step.node_rank)];
    }
  }
  if (const auto nodes = first_text({"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"})) {
    step.first_host = expand_node_list(*nodes).front();
  }
  return step;
}

int SlurmAllocation::tasks() const {
  return std::accumulate(tasks_per_node.begin(), tasks_per_node.end(), 0);
}

std::optional<SlurmAllocation> read_slurm_allocation() {
  const auto job = job_number();
  if (!job || step_number()) return std::nullopt;
  SlurmAllocation allocation;
  allocation.job = static_cast<std::uint64_t>(*job);
  allocation.node_count = count_or({"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}, 1);
  allocation.is_on_node = environment_variable("SLURMD_NODENAME").has_value();
  const auto nodes = static_cast<std::size_t>(allocation.node_count);
  // Without --ntasks or --ntasks-per-node Slurm says 1 a node, or as many as it has CPUs: nobody asked for those.
  if (environment_variable("SLURM_NTASKS") || environment_variable("SLURM_NTASKS_PER_NODE")) {
    if (const auto counts = environment_variable("SLURM_TASKS_PER_NODE")) {
      allocation.tasks_per_node = expand_counts(*counts);
    }
  }
  if (allocation.tasks_per_node.size() != nodes) allocation.tasks_per_node.assign(nodes, 1);
  const auto gpus = first_text({"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"});
  if (gpus) allocation.gpus_per_node = count_of_gpus(*gpus);
  return allocation;
}

std::optional<JobPlace> slurm_place() {
  const auto step = read_slurm_step();
  if (!step) return std::nullopt;
  JobPlace place;
  place.launcher = "Slurm";
  place.rank = step->rank;
  place.world_size = step->world_size;
  place.local_rank = step->local_rank;
  place.local_world_size = step->local_world_size;
  place.node_rank = step->node_rank;
  place.job = step->name();
  place.address = step->first_address();
  place.port = step->port();
  place.note = "; " + place.address + " is the first host of Slurm's step " + std::to_string(step->job) + "." +
               std::to_string(step->step) + ", and port " + std::to_string(place.port) +
               " follows from its number: MASTER_ADDR and MASTER_PORT, exported before srun, choose others";
  place.how_to_say = "export MASTER_ADDR, where rank 0 is reached, before srun";
  return place;
}

}  // namespace tandem
