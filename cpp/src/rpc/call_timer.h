// Deadlines of calls.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace tandem::rpc {

// Calls what is due, on a thread of its own. Thread-safe.
class CallTimer {
 public:
  using Clock = std::chrono::steady_clock;
  using Entry = std::pair<Clock::time_point, std::uint64_t>;

  CallTimer();
  ~CallTimer() { close(); }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // `body` must not block, and throws nothing.
  Entry add(Clock::time_point when, std::function<void()> body);
  // It may be under way, or over.
  void remove(const Entry& entry);
  // Waits for the one that is under way; the others are dropped.
  void close();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Entry, std::function<void()>> entries_;
  std::uint64_t next_ = 0;
  Clock::time_point wakes_ = Clock::time_point::max();  // when the thread looks again
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace tandem::rpc
