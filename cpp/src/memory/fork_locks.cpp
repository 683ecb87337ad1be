#include "memory/fork_locks.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <ranges>

namespace tandem {
namespace {

constexpr auto kLocks = static_cast<std::size_t>(ForkLock::count);

constinit std::mutex one_fork;  // guards `held`: a library may let two threads' handlers run at once
constinit std::array<std::atomic<std::mutex*>, kLocks> known{};
constinit std::array<std::mutex*, kLocks> held{};  // by the fork in progress; one may become known meanwhile

void before_fork() {
  one_fork.lock();
  for (std::size_t i = 0; i < kLocks; ++i) {
    held[i] = known[i].load(std::memory_order_acquire);
    if (held[i]) held[i]->lock();
  }
}

// In the child the thread that forked is the one that there is, and holds the locks.
void after_fork() {
  for (std::mutex*& mutex : held | std::views::reverse) {
    if (mutex) mutex->unlock();
    mutex = nullptr;
  }
  one_fork.unlock();
}

}  // namespace

void hold_in_fork(ForkLock place, std::mutex& mutex) {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(before_fork, after_fork, after_fork); });
  known[static_cast<std::size_t>(place)].store(&mutex, std::memory_order_release);
}

}  // namespace tandem
