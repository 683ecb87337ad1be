// Stands between a backend's works and those who wait for them.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "comm/collective.h"
#include "tandem/error.h"

namespace tandem {

class GroupState;
class Waiters;

// One collective, made of one or several works of a backend. Its errors are Errors that name collective, group and
// peer; GroupState::abort() completes it at once; the first failure ends the group. Thread-safe.
class GuardedWork : public c10d::Work {
 public:
  using Inner = std::vector<c10::intrusive_ptr<c10d::Work>>;

  // For works with futures. `runs_when_waited`: whoever waits for them without a limit may run them. `finish`
  // runs on the backend's thread after success, before anyone is told.
  static c10::intrusive_ptr<GuardedWork> start(std::shared_ptr<GroupState> state, Collective collective, Inner inner,
                                               std::function<void()> finish = nullptr, bool runs_when_waited = false);
  // For works that are done only when somebody waits for them (Gloo's sends and receives): whoever waits without a
  // limit does that; else one of the group's waiters.
  static c10::intrusive_ptr<GuardedWork> start_waited(std::shared_ptr<GroupState> state, Collective collective,
                                                      Inner inner, const std::shared_ptr<Waiters>& waiters);

  GuardedWork(std::shared_ptr<GroupState> state, Collective collective, Inner inner, std::function<void()> finish,
              const std::shared_ptr<Waiters>& waiters);

  bool wait(std::chrono::milliseconds timeout) override;
  bool isCompleted() override;
  std::vector<at::Tensor> result() override { return collective_.tensors; }
  void synchronize() override;
  int sourceRank() const override;
  uint64_t getSequencenumber() const override { return collective_.sequence; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  friend class GroupState;
  // One of the backend's works is done.
  void inner_done(std::exception_ptr failure);
  void all_done();
  // Tells those who wait, once.
  void end(std::exception_ptr failure);
  // As an event of the process's trace.
  void trace(const std::string& failure) const;
  // The group was aborted, or has failed.
  void interrupt(const Error& reason);
  // Whether Gloo sends in it, which waits to the end of the timeout though the peer be gone.
  bool sends_unwatched() const;
  // Whether it is up to the caller to wait for the inner works.
  bool claim() { return is_waited_ && !claimed_.exchange(true); }
  void wait_for_inner();
  void have_it_waited_for();

  const std::shared_ptr<GroupState> state_;
  const Collective collective_;
  const Inner inner_;
  std::function<void()> finish_;
  const bool is_waited_;  // else the inner works have futures
  bool runs_when_waited_ = false;
  const std::weak_ptr<Waiters> waiters_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<bool> claimed_{false};
  std::atomic<std::size_t> pending_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first
  std::atomic<bool> ended_{false};
};

}  // namespace tandem
