// Waiting that keeps the core.
#pragma once

#include <chrono>

#include "comm/cores.h"

namespace tandem::shm {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How long a rank looks for what it waits for before it sleeps. Being woken takes as long as many small collectives.
struct SpinTime {
  std::chrono::nanoseconds program{0};     // where the program itself waits: it has nothing else to do
  std::chrono::nanoseconds own_thread{0};  // a thread of the group's, which takes the core from the program

  // In a group of `ranks` on this host: a rank that has a core to itself finds the others' next steps by looking;
  // others must let them have the core.
  static SpinTime for_ranks(int ranks) {
    if (cores_per_rank(ranks) < 1) return {};
    return {std::chrono::microseconds(200), std::chrono::microseconds(20)};
  }
};

}  // namespace tandem::shm
