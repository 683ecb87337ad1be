// Runs a CommHook for the reducer.
#pragma once

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <deque>
#include <memory>

#include "ddp/step_timer.h"
#include "tandem/comm_hook.h"

namespace tandem {

// What hooks with several stages a bucket issue must come in one order on all ranks, though buckets overlap. So stages
// follow the beginnings of buckets, which are in order: at each, the exchanges that are under way go one stage on, and
// the last bucket has all go to their end.
class HookRunner final : public c10d::CommHookInterface {
 public:
  // `overlaps` false: each bucket goes to its end at once, where the last one cannot be told. `timer` may be null.
  HookRunner(CommHook hook, bool overlaps, std::shared_ptr<StepTimer> timer)
      : hook_(std::move(hook)), overlaps_(overlaps), timer_(std::move(timer)) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  struct Job {
    Exchange exchange;
    c10::intrusive_ptr<c10::ivalue::Future> future;
    StepTimer::Ticket ticket;
  };
  Job begin(c10d::GradBucket& bucket, const c10::intrusive_ptr<c10::ivalue::Future>& future);
  // Waits, and begins what follows. True when nothing more is to be begun.
  bool advance(Job& job);
  // The future follows the exchange's last work.
  void conclude(Job& job);
  // From its beginning to its end, while no other bucket is exchanged.
  void run_alone(c10d::GradBucket bucket, const c10::intrusive_ptr<c10::ivalue::Future>& future);

  const CommHook hook_;
  const bool overlaps_;
  const std::shared_ptr<StepTimer> timer_;
  std::deque<Job> jobs_;
};

}  // namespace tandem
