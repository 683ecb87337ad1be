// Cores that a rank computes on.
#pragma once

#include <sched.h>

#include <cstdlib>
#include <string_view>

namespace tandem {

// Of the calling thread's CPUs, each rank's share in a group of `ranks` on this host; rounded down, so 0 where ranks
// must take turns. All of them where `tandem run --bind-to core` gave each rank its own.
inline int cores_per_rank(int ranks) {
  cpu_set_t set;
  const int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const char* const bound = std::getenv("TANDEM_BIND_TO");
  return bound && std::string_view(bound) == "core" ? cpus : cpus / ranks;
}

}  // namespace tandem
