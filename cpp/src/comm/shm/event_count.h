// How a rank sleeps until another one has something for it, across processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tandem::shm {

// An event count in shared memory. One thread of its owner sleeps at it; any thread of any process may notify.
//
// To wait:  key = events.prepare_wait();  if (what is waited for is there) { events.cancel_wait(); go on }
// events.wait(key, time); To tell:  make it so, with a sequentially consistent store; then events.notify(). Whoever
// notifies after prepare_wait() wakes the sleeper, so nothing is missed.
class EventCount {
 public:
  std::uint32_t prepare_wait() {
    is_asleep_.store(1);
    return count_.load();
  }
  void cancel_wait() { is_asleep_.store(0); }
  // Until it is notified after prepare_wait(), or as long as `limit`. May return early.
  void wait(std::uint32_t key, std::chrono::nanoseconds limit);

  // Costs a load when nobody sleeps.
  void notify() {
    if (is_asleep_.load() != 0) wake();
  }

 private:
  void wake();

  std::atomic<std::uint32_t> is_asleep_{0};
  std::atomic<std::uint32_t> count_{0};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "an atomic with a lock cannot lie in shared memory");

}  // namespace tandem::shm
