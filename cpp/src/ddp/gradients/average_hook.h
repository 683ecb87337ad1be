// The reducer's all-reduce where the backend averages by itself: buckets are not divided beforehand.
#pragma once

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <functional>

namespace tandem {

class AverageHook final : public c10d::CommHookInterface {
 public:
  // Over the group's ranks, or `ranks()` of them, which is the same on all of them, while that is less: the others give
  // zeros.
  AverageHook(c10::intrusive_ptr<c10d::ProcessGroup> group, std::function<int()> ranks)
      : group_(std::move(group)), ranks_(std::move(ranks)) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  at::Tensor parseHookResult(const c10::IValue& result) override;

 private:
  const c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const std::function<int()> ranks_;
};

}  // namespace tandem
