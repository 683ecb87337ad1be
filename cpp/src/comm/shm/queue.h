// Runs a group's collectives one after another, in the order of their calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "comm/group_state.h"
#include "comm/shm/performer.h"
#include "comm/shm/work.h"

namespace tandem::shm {

// Collectives run on a thread of the queue's own, so that they overlap with what the program does, or on the thread
// that waits for one. The queue's thread starts with the first collective that needs it. Thread-safe.
class Queue : public std::enable_shared_from_this<Queue> {
 public:
  Queue(std::shared_ptr<GroupState> state, std::unique_ptr<Performer> performer);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Appends the work. `soon`: whoever submits will wait for it at once, so that nobody else is woken.
  void submit(const c10::intrusive_ptr<Work>& work, bool soon);
  // Runs what is queued, up to `work`, unless another thread does already.
  void help(Work& work);

  // Whom to tell after a work has failed. Before the first submit().
  void set_failed(std::function<void(const Error&)> failed) { failed_ = std::move(failed); }
  // The group has failed elsewhere on this rank: tells the other ranks and ends all works.
  void fail(const Error& failure);

  // Ends all works with Error (kAborted) and tells the other ranks. `quietly`: leaves them in peace when there are
  // none.
  void abort(const std::string& reason, bool quietly);
  // Joins the thread. After abort().
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run_next(Lock& lock);
  std::exception_ptr run(Work& work);
  void break_group(const Error& failure);
  void wake_thread();
  void serve();

  const std::shared_ptr<GroupState> state_;
  const std::unique_ptr<Performer> performer_;
  std::function<void(const Error&)> failed_;

  std::mutex mutex_;
  std::condition_variable work_or_stop_;
  std::deque<c10::intrusive_ptr<Work>> queue_;
  bool running_ = false;         // a thread runs one; the performer is that thread's
  std::optional<Error> broken_;  // why nothing can run any more
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tandem::shm
