// Waiting that keeps the core.
#pragma once

#include <sched.h>

#include <chrono>

namespace tandem::shm {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How long a rank of a group of `ranks` looks for what it waits for before it sleeps: a rank that has a core to itself
// finds the others' next steps by looking; others must let them have the core.
inline std::chrono::nanoseconds spin_time(int ranks) {
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return ranks <= cores ? std::chrono::microseconds(20) : std::chrono::microseconds(0);
}

}  // namespace tandem::shm
