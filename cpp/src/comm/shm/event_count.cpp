#include "comm/shm/event_count.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tandem::shm {
namespace {

// Not the private kind: sleeper and waker map the word at different addresses.
long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, limit, nullptr, 0);
}

}  // namespace

void EventCount::wait(std::uint32_t key, std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec time{};
  time.tv_sec = seconds.count();
  time.tv_nsec = (limit - seconds).count();
  futex(&count_, FUTEX_WAIT, key, &time);  // any outcome: the caller looks again
  cancel_wait();
}

void EventCount::wake() {
  count_.fetch_add(1);
  futex(&count_, FUTEX_WAKE, 1, nullptr);
}

}  // namespace tandem::shm
