// Stands between a backend's works and those who wait for them.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "comm/collective.h"
#include "comm/waiters.h"
#include "tandem/error.h"

namespace tandem {

class GroupState;

// One collective, made of one or several works of a backend. Its errors are Errors that name collective, group and
// peer; GroupState::abort() completes it at once; the first failure ends the group. Thread-safe.
class GuardedWork : public c10d::Work {
 public:
  using Inner = c10::SmallVector<c10::intrusive_ptr<c10d::Work>, 1>;

  // For works with futures. `runs_when_waited`: whoever waits for them without a limit may run them. `finish`
  // runs on the backend's thread after success, before anyone is told.
  static c10::intrusive_ptr<GuardedWork> start(std::shared_ptr<GroupState> state, Collective collective, Inner inner,
                                               std::function<void()> finish = nullptr, bool runs_when_waited = false);
  // Who waits for works that are done only when somebody does, as Gloo's sends and receives are, when it is not a
  // caller without a limit.
  struct Helpers {
    // For whom somebody waits with a limit, or asks.
    const std::shared_ptr<Waiters> waiters = std::make_shared<Waiters>();
    // For whom nobody does any more; one after the other, for nobody is held up by that.
    const std::shared_ptr<Waiters> reaper = std::make_shared<Waiters>(1);
  };
  // The caller has it in a MessageHandle.
  static c10::intrusive_ptr<GuardedWork> start_waited(std::shared_ptr<GroupState> state, Collective collective,
                                                      Inner inner, const Helpers& helpers);

  // For a work whose wait only orders streams (NCCL's): whoever waits without a limit does no more. The backend tells
  // when it has ended on the GPU; at the latest a look at it does.
  static c10::intrusive_ptr<GuardedWork> start_on_stream(std::shared_ptr<GroupState> state, Collective collective,
                                                         c10::intrusive_ptr<c10d::Work> inner);

  GuardedWork(std::shared_ptr<GroupState> state, Collective collective, Inner inner, std::function<void()> finish,
              const Helpers* helpers);

  // Nobody will wait for it any more: has it done nevertheless, so that it does not stay in flight.
  void have_it_reaped();

  bool wait(std::chrono::milliseconds timeout) override;
  bool isCompleted() override;
  std::vector<at::Tensor> result() override { return collective_.tensors; }
  void synchronize() override;
  int sourceRank() const override;
  uint64_t getSequencenumber() const override { return collective_.sequence; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  // With the last use, also where a future that is never completed knows it by a weak pointer.
  void release_resources() override;

 private:
  friend class GroupState;
  // One of the backend's works is done. `is_late`: when its time was over.
  void inner_done(std::exception_ptr failure, bool is_late);
  void all_done();
  // Tells those who wait, once.
  void end(std::exception_ptr failure);
  // The group was aborted, or has failed.
  void interrupt(const Error& reason);
  // It goes on though a rank is lost: fails with that, where it is a collective.
  void lose_peer(const Error& lost);
  // Whether the end of its group ends it at once: else its backend tells soon.
  bool must_end_with(const Error& reason) const;
  // Whether Gloo would wait in it to the end of the timeout though connections have ended: it sends, or receives from
  // any rank.
  bool is_untold() const;
  bool has_any_source() const;
  bool has_only_sends() const;
  // Whether it goes on on a GPU, and the program, having waited, takes it for done.
  bool is_taken_for_done() const { return follows_stream_ && was_waited_for_; }
  // Whether it is a message that its peer may have got, or sent, without this rank's having noticed.
  bool may_have_got_through() const;
  // Whether it is up to the caller to wait for the inner works.
  bool claim() { return is_waited_ && !claimed_.exchange(true); }
  void wait_for_inner();
  bool wait_on_stream(std::chrono::milliseconds timeout);
  // Ends it if the GPU has.
  void look_at_stream();
  // Once.
  void stream_done(std::exception_ptr failure, bool is_late);
  // What a wait throws whose limit is over.
  Error not_yet(std::chrono::milliseconds timeout) const;
  void have_it_waited_for();
  void hand_to(const std::weak_ptr<Waiters>& helper);

  const std::shared_ptr<GroupState> state_;
  const Collective collective_;
  Inner inner_;
  std::function<void()> finish_;
  const bool is_waited_;  // else the inner works have futures
  bool runs_when_waited_ = false;
  bool follows_stream_ = false;
  std::atomic<bool> was_waited_for_{false};
  const std::weak_ptr<Waiters> waiters_, reaper_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<bool> claimed_{false};
  std::atomic<bool> failing_{false};  // of itself
  std::atomic<bool> reaped_{false};  // dropped, and waited for by the group
  std::atomic<std::size_t> pending_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first
  std::atomic<bool> ended_{false};
};

}  // namespace tandem
