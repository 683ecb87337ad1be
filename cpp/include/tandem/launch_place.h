// A process's place among those that a launcher or a scheduler started with it.
//
//   const int gpu = std::max(tandem::launch_place().local_rank, 0);
#pragma once

#include <string>

#include "tandem/export.h"

namespace tandem {

struct LaunchPlace {
  // Who says so: "the environment" (RANK and others, as tandem run and torchrun set them), "Open MPI", "PMIx", "PMI",
  // "Slurm", "Kubernetes"; "" for a process that was started alone.
  std::string launcher;
  int rank = 0;
  int world_size = 1;
  // -1 where the launcher does not say.
  int local_rank = 0;        // number among those on its host
  int local_world_size = 1;  // how many are on its host
  int node_rank = 0;         // number of its host
};

// From the environment, as "env://" reads it: docs/schedulers.md has which launcher counts where several are there.
// Throws Error (kInvalidArgument) for an environment that says a part, or that makes no sense.
TANDEM_API LaunchPlace launch_place();

}  // namespace tandem
