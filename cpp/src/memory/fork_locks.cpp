#include "memory/fork_locks.h"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <ranges>

namespace tandem {
namespace {

constexpr auto kLocks = static_cast<std::size_t>(ForkLock::count);

constinit std::mutex one_fork;  // guards `known`: none becomes known, and could be locked, while a fork goes on
constinit std::array<std::mutex*, kLocks> known{};

void before_fork() {
  one_fork.lock();
  for (std::mutex* mutex : known) {
    if (mutex) mutex->lock();
  }
}

// In the child the thread that forked is the one that there is, and holds the locks.
void after_fork() {
  for (std::mutex* mutex : known | std::views::reverse) {
    if (mutex) mutex->unlock();
  }
  one_fork.unlock();
}

// When the library is loaded: a fork that has begun does not call handlers that come to it.
[[maybe_unused]] const int registered = pthread_atfork(before_fork, after_fork, after_fork);

}  // namespace

void hold_in_fork(ForkLock place, std::mutex& mutex) {
  const std::lock_guard<std::mutex> lock(one_fork);
  known[static_cast<std::size_t>(place)] = &mutex;
}

}  // namespace tandem
