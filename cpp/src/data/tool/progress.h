// How far a command is, on a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tandem::data_tool {

// A line on standard error, where that is a terminal; nothing elsewhere. Thread-safe.
class Progress {
 public:
  Progress(std::string what, std::int64_t total);
  // Takes the line away again.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::int64_t done = 1) {
    const std::int64_t now = done_.fetch_add(done, std::memory_order_relaxed) + done;
    if (shown_ && now >= next_.load(std::memory_order_relaxed)) draw(now);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::int64_t done);

  const std::string what_;
  const std::int64_t total_;
  const bool shown_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<std::int64_t> next_ = 0;  // looking at the clock costs more than counting
  std::mutex mutex_;
  Clock::time_point drawn_{};  // never yet
};

}  // namespace tandem::data_tool
