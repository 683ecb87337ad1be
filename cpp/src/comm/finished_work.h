// A work that is done when its caller gets it.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <cstdint>
#include <mutex>
#include <vector>

namespace tandem {

// Of a collective that its caller ran, or that had nothing to do. Thread-safe.
class FinishedWork final : public c10d::Work {
 public:
  FinishedWork(int rank, c10d::OpType type, std::vector<at::Tensor> result, std::uint64_t sequence = 0)
      : c10d::Work(rank, type), result_(std::move(result)), sequence_(sequence) {
    completed_ = true;
  }

  bool wait(std::chrono::milliseconds) override { return true; }
  bool isCompleted() override { return true; }
  std::vector<at::Tensor> result() override { return result_; }
  uint64_t getSequencenumber() const override { return sequence_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
  const std::vector<at::Tensor> result_;
  const std::uint64_t sequence_;
  std::once_flag once_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;  // few ask for it
};

}  // namespace tandem
