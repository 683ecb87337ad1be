// A collective of the shm backend, from its call to its end.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "comm/shm/performer.h"

namespace tandem::shm {

class Queue;

class Work final : public c10d::Work {
 public:
  using Body = std::function<void(Performer&, const Label&, Performer::Deadline)>;

  // `result` is what the future gives; `held` stays alive until the end.
  Work(std::shared_ptr<Queue> queue, int rank, c10d::OpType type, const char* title, Label label, Body body,
       std::chrono::milliseconds timeout, std::vector<at::Tensor> result, std::vector<at::Tensor> held);

  // Without a limit: runs the queue itself where nobody does, for waking another thread would take longer than a small
  // collective.
  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override { return result_; }
  uint64_t getSequencenumber() const override { return label_.sequence; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  // Without a lock, as isCompleted() takes.
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }

 private:
  friend class Queue;

  void complete(c10::ivalue::Future& future) const;
  // Tells those who wait, once.
  void end(std::exception_ptr failure);

  const std::shared_ptr<Queue> queue_;
  const Label label_;
  Body body_;
  const std::chrono::milliseconds timeout_;
  const std::vector<at::Tensor> result_;
  std::vector<at::Tensor> held_;
  std::exception_ptr failure_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;  // once it is asked for: blocking calls do not
  std::atomic<bool> has_ended_{false};
};

}  // namespace tandem::shm
