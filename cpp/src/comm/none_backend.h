// A backend that exchanges nothing: every rank is told that all others have the same. For benchmarks, where it shows
// what a step costs without communication.
#pragma once

#include "comm/backend_control.h"

namespace tandem {

class NoneBackend final : public c10d::Backend, public BackendControl {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  NoneBackend(int rank, int size) : c10d::Backend(rank, size) {}

  BackendTraits traits() const override { return {}; }
  // It has nobody to tell, and nothing waits.
  void finish(const std::string&) override {}
  void fail(const Error&) override {}
  void abort(const Error&) override {}
  using c10d::Backend::abort;

  const std::string getBackendName() const override { return "none"; }
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions&) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions&) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions&) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions&) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions&) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions&) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions&) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions&) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions&) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions&) override;
  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions&) override;
};

}  // namespace tandem
