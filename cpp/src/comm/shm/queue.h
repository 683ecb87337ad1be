// Runs a group's collectives one after another, in the order of their calls.
#pragma once

#include <c10/util/FunctionRef.h>

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
  using BodyRef = c10::function_ref<void(Performer&, const Label&, Performer::Deadline)>;

  Queue(std::shared_ptr<GroupState> state, std::unique_ptr<Performer> performer);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Appends the work. `soon`: whoever submits will wait for it at once, so that nobody else is woken.
  void submit(const c10::intrusive_ptr<Work>& work, bool soon);
  // Runs a collective on this thread; false where another one comes first. Throws what it throws.
  bool run_here(const Label& label, std::chrono::milliseconds timeout, BodyRef body);
  // Runs what is queued, up to `work`, unless another thread does already.
  void help(Work& work);

  // Whether nothing runs or is queued.
  bool is_idle();

  // The group has failed: tells the other ranks, and ends what runs; what is queued ends in its turn.
  void fail(const Error& failure);
  // The same with kAborted, and ends what is queued at once.
  void abort(const Error& reason);
  // Tells the other ranks that the group is closed, with nothing pending.
  void close() { performer_->close(); }
  // Joins the thread. After one of those.
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Why it cannot begin: the group has ended. Null where it can.
  std::exception_ptr why_not(const Label& label) const;

  void run_next(Lock& lock, bool program_waits);
  std::exception_ptr run(const Label& label, std::chrono::milliseconds timeout, BodyRef body);
  void wake_thread();
  void serve();

  const std::shared_ptr<GroupState> state_;
  const std::unique_ptr<Performer> performer_;
  std::mutex mutex_;
  std::condition_variable work_or_stop_;
  std::deque<c10::intrusive_ptr<Work>> queue_;
  bool running_ = false;  // a thread runs one; the performer is that thread's
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tandem::shm
