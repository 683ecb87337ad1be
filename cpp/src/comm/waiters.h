// Threads that wait for what tells nobody when it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tandem {

// As many threads as there are tasks at a time, up to `most`; an idle one takes the next task. Thread-safe.
class Waiters {
 public:
  explicit Waiters(std::size_t most = SIZE_MAX);
  // Waits for all tasks, but for the one that it is called from.
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // `task` must not throw. Not to be called by a task.
  void run(std::function<void()> task);

 private:
  struct Tasks;

  static void work(const std::shared_ptr<Tasks>& tasks);

  const std::size_t most_;
  const std::shared_ptr<Tasks> tasks_;
};

}  // namespace tandem
