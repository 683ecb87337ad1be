// Tells a thread that waits for a file, deep inside of a data set, that nobody wants what it reads any more.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

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

}  // namespace tandem
