// Tells a thread that waits for a file, deep inside of a data set, that nobody wants what it reads any more.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace tandem {

using InterruptFlag = std::shared_ptr<const std::atomic<bool>>;

// While it lives, waits of this thread end once the flag is set. Scopes may nest; the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(InterruptFlag flag);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const InterruptFlag flag_;
  const std::atomic<bool>* const before_;
};

// Whether this thread's flag is set; false without one.
bool is_interrupted();

// Sleeps so long, less where this thread is interrupted. Whether it was not.
bool sleep_unless_interrupted(std::chrono::milliseconds time);

// A mutex for work that may take as long as a server likes. lock() throws Error(kAborted) where this thread is
// interrupted while it waits; whoever holds the mutex is left to its work.
class InterruptibleMutex {
 public:
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool is_held_ = false;
};

}  // namespace tandem
