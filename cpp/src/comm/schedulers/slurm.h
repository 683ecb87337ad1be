// What Slurm tells processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/schedulers/job_place.h"

namespace tandem {

// A job step, of which this process is a task: srun started it.
struct SlurmStep {
  std::uint64_t job = 0;
  std::uint64_t step = 0;
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;
  int local_world_size = -1;
  int node_rank = 0;
  int node_count = 1;
  std::string first_host;  // of the step; "" where it is not told

  std::string name() const { return "slurm-" + std::to_string(job) + "." + std::to_string(step); }
  std::string first_address() const { return node_count == 1 ? "127.0.0.1" : first_host; }
  // Where the step's rank 0 listens unless something else is said: the steps of a job have different ones.
  std::uint16_t port() const { return port_of_job(job * 64 + step % 64); }
};
// Nothing where this process is no task of a step: a batch script, and the shell of salloc, also where Slurm calls
// that an interactive step.
std::optional<SlurmStep> read_slurm_step();

// A job whose batch script, or whose shell, this process belongs to.
struct SlurmAllocation {
  std::uint64_t job = 0;
  int node_count = 1;
  bool is_on_node = false;          // rather than where salloc was called
  std::vector<int> tasks_per_node;  // as they were asked for; else 1 each
  int gpus_per_node = 0;            // 0: none, or not known

  int tasks() const;
};
// Nothing in a step, and outside of jobs.
std::optional<SlurmAllocation> read_slurm_allocation();

// Of a task of a step.
std::optional<JobPlace> slurm_place();

}  // namespace tandem
