#include "data/interruption.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::chrono::milliseconds kInterruptPoll{50};

thread_local const std::atomic<bool>* interrupt_flag = nullptr;

}  // namespace

InterruptScope::InterruptScope(InterruptFlag flag) : flag_(std::move(flag)), before_(interrupt_flag) {
  interrupt_flag = flag_.get();
}

InterruptScope::~InterruptScope() {
  interrupt_flag = before_;
}

bool is_interrupted() {
  return interrupt_flag && interrupt_flag->load(std::memory_order_relaxed);
}

bool sleep_unless_interrupted(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!is_interrupted()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kInterruptPoll));
  }
  return false;
}

void InterruptibleMutex::lock() {
  std::unique_lock lock(mutex_);
  while (is_held_) {
    if (is_interrupted()) {
      throw Error(ErrorCode::kAborted, "another thread reads the same, and nobody waits for it here any more");
    }
    free_.wait_for(lock, kInterruptPoll);
  }
  is_held_ = true;
}

void InterruptibleMutex::unlock() {
  {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
  }
  free_.notify_one();
}

}  // namespace tandem
