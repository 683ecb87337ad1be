// Where functions run that others call.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace tandem::rpc {

// LibTorch completes answers on the threads that take calls: a function that waits there for a call of its own may wait for
// its own thread. So only so many functions run on LibTorch's threads that some are always free, and all others here. A
// function that waits (Wait) makes room for another one, on one more thread where need be: functions that call each other
// in circles come to their end, as long as there are threads for it. Thread-safe.
class FunctionPool {
 public:
  using Task = std::function<void()>;  // throws nothing

  // `most_running`: functions that do not wait, at a time, and how many of all run on LibTorch's threads at a time;
  // `most_threads`: of the pool's own, 1 or more.
  FunctionPool(int most_running, int most_threads);
  ~FunctionPool() { close(); }
  FunctionPool(const FunctionPool&) = delete;
  FunctionPool& operator=(const FunctionPool&) = delete;

  // A function that another worker calls: at once, on this thread, where `may_be_here` and there is room, else as soon as
  // there is. Dropped after close().
  void run(Task task, bool may_be_here);
  // What goes on once a call is done: on a thread of the pool's, beside how many others there may be, since a function
  // may wait for it. False, and nothing done, where there can be no thread for it now, and after close().
  bool post(const Task& task);

  // Tasks that were given and have not ended.
  std::size_t active() const;

  // Drops functions that have not begun, waits for the others, and runs what was posted. May be called again.
  void close();

  // While it lives, the function that this thread runs waits for what others do. On other threads it does nothing.
  class Wait {
   public:
    Wait();
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    // Whether there is a function, which did not wait already.
    bool counts() const { return pool_; }

   private:
    FunctionPool* const pool_;
  };

 private:
  using Threads = std::list<std::thread>;

  void serve(Threads::iterator self);
  bool may_run() const { return !queue_.empty() && running_ < most_running_; }
  // For one more task, where there is one that may run; false where there can be no thread for it.
  bool wake_for(std::size_t tasks);
  void wake_for_queue();
  void execute(Task task, bool is_function);
  void join_finished();

  const int most_running_;
  const std::size_t most_threads_;
  mutable std::mutex mutex_;
  std::condition_variable work_, finished_changed_;
  std::deque<Task> queue_, posted_;
  int running_ = 0;  // functions that do not wait
  int here_ = 0;     // on LibTorch's threads
  std::size_t active_ = 0, idle_ = 0;
  Threads threads_, finished_;
  bool closed_ = false;
};

}  // namespace tandem::rpc
