// How a rank sleeps until another one has something for it, across processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tandem::shm {

// An event count in shared memory. One thread of its owner sleeps at it; any thread of any process may ring.
//
// To wait:  key = bell.prepare();  if (what is waited for is there) { bell.leave(); go on }  bell.sleep(key, time);
// To tell:  make it so, with a sequentially consistent store; then bell.ring().
// Whoever rings after prepare() wakes the sleeper, so nothing is missed.
class Doorbell {
 public:
  std::uint32_t prepare() {
    asleep_.store(1);
    return rung_.load();
  }
  void leave() { asleep_.store(0); }
  // Until it is rung after prepare(), or as long as `limit`. May return early. Leaves.
  void sleep(std::uint32_t key, std::chrono::nanoseconds limit);

  // Costs a load when nobody sleeps.
  void ring() {
    if (asleep_.load() != 0) wake();
  }

 private:
  void wake();

  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<std::uint32_t> rung_{0};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "an atomic with a lock cannot lie in shared memory");

}  // namespace tandem::shm
