// A backend that exchanges nothing: every rank is told that all others have the same. For benchmarks, where it shows
// what a step costs without communication.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace tandem {

class NoneBackend final : public c10d::Backend {
 public:
  NoneBackend(int rank, int size) : c10d::Backend(rank, size) {}

  const std::string getBackendName() const override { return "none"; }
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions&) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions&) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors, const c10d::ReduceOptions&) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs, const c10d::AllgatherOptions&) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions&) override;
};

}  // namespace tandem
