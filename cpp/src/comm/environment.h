// What launchers (tandem run, torchrun, srun with a wrapper) tell a process through its environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem {

// A rank's place in its job, from the environment.
struct LaunchEnvironment {
  int rank = -1;
  int world_size = -1;
  std::string master_address;
  std::uint16_t master_port = 0;
  bool agent_hosts_store = false;  // torchrun: rank 0 is a client too
  std::string job_prefix;          // keys of this start of this job
};

std::optional<std::string> environment_variable(const char* name);

// RANK and WORLD_SIZE for numbers that are not given (-1). Throws Error (kInvalidArgument) naming what is missing or
// malformed.
void read_rank_and_size(int* rank, int* world_size);

// All that env:// needs. `rank` and `world_size` override the environment when not -1.
LaunchEnvironment read_launch_environment(int rank, int world_size);

// Throws Error (kInvalidArgument) for a rank outside the world.
void check_rank(int rank, int world_size);

}  // namespace tandem
