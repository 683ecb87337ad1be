// What launchers (tandem run, torchrun) and schedulers tell a process through its environment: docs/schedulers.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/environment_variable.h"
#include "comm/schedulers/job_place.h"

namespace tandem {

// A rank's place in its job, from the environment, and where the ranks meet.
struct LaunchEnvironment {
  int rank = -1;
  int world_size = -1;
  std::string master_address;
  std::uint16_t master_port = 0;   // 0: a free one that rank 0 takes: comm/session_port.h
  std::string session_folder;      // where it says so; "": a world of one, nobody asks
  std::string job;                 // a name of the job there
  std::string note;                // how address and port were found and what chooses others, for errors; may be ""
  bool agent_hosts_store = false;  // torchrun: rank 0 is a client too
  std::string job_prefix;          // keys of this start of this job
};

// Of the scheduler that started this process, where RANK is not there: a launcher, which sets that for each of its
// workers, runs inside of a scheduler's step and hardly ever around one. Nothing where no scheduler did. Throws Error
// (kInvalidArgument) for variables that make no sense, and for a WORLD_SIZE that is not the scheduler's.
std::optional<JobPlace> scheduler_place();

// Rank and size for numbers that are not given (-1): RANK and WORLD_SIZE, else a scheduler's. Throws Error
// (kInvalidArgument) naming what is missing or malformed.
void read_rank_and_size(int* rank, int* world_size);

// All that env:// needs. `rank` and `world_size` override the environment when not -1.
LaunchEnvironment read_launch_environment(int rank, int world_size);

// Throws Error (kInvalidArgument) for a rank outside the world.
void check_rank(int rank, int world_size);

}  // namespace tandem
