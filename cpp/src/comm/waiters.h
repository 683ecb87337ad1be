// Threads that wait for what tells nobody when it is done.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

// As many threads as there are tasks at a time, up to `most`; an idle one takes the next task. Thread-safe.
class Waiters {
 public:
  explicit Waiters(std::size_t most = SIZE_MAX) : most_(most) {}
  // Waits for all tasks.
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // `task` must not throw. Not to be called by a task.
  void run(std::function<void()> task);

 private:
  void work();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem
