// What is made of a chunk at its first use, once, whoever asks first.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

namespace tandem::recordio {

template <typename Content>
class OnceLoaded {
 public:
  // `load` makes the content; where it throws, the next one who asks tries again.
  template <typename Load>
  const Content& get(const Load& load) {
    if (!ready_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      if (!ready_.load(std::memory_order_relaxed)) {
        content_ = load();
        ready_.store(true, std::memory_order_release);
      }
    }
    return content_;
  }

 private:
  std::atomic<bool> ready_ = false;
  std::mutex mutex_;
  Content content_;
};

}  // namespace tandem::recordio
