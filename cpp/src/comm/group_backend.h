// What a group's callers, LibTorch's own included, have before them instead of the backend itself: collectives are
// numbered, recorded and, if asked for, checked against those of the other ranks; errors name things; abort works; what
// the backend lacks is composed of what it has.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/backend_control.h"
#include "comm/collective_check.h"
#include "comm/group_state.h"
#include "comm/guarded_work.h"
#include "comm/local_reduction.h"

namespace tandem {

class GroupBackend final : public c10d::Backend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  // `check` may be null.
  static c10::intrusive_ptr<GroupBackend> make(const std::shared_ptr<GroupState>& state, ControlledBackend inner,
                                               std::shared_ptr<CollectiveCheck> check);
  // For make().
  GroupBackend(std::shared_ptr<GroupState> state, ControlledBackend inner, std::shared_ptr<CollectiveCheck> check);
  ~GroupBackend() override;

  const c10::intrusive_ptr<c10d::Backend>& inner() const { return inner_; }

  // The program is done with the group. Whether that was in peace: nothing was in flight, and nothing had failed. Then
  // the other ranks have been told; else what is pending is aborted.
  bool close(const std::string& reason);

  // Several sends and receives as one work.
  struct Message {
    at::Tensor tensor;
    int peer = 0;
    bool is_send = false;
    int tag = 0;
  };
  WorkPtr exchange(const std::vector<Message>& messages);
  // Several reductions as one message for each dtype.
  WorkPtr allreduce_many(const std::vector<Reduction>& reductions);
  // Tensors of any sizes, which every rank knows: each rank's is broadcast.
  WorkPtr allgather_uneven(Tensors outputs, const at::Tensor& input);

  const BackendTraits& traits() const { return traits_; }

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  c10::intrusive_ptr<Options> getBackendOptions() override { return inner_->getBackendOptions(); }
  void setTimeout(std::chrono::milliseconds timeout) override;

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

  // Numbers run from 0 on every rank.
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return state_->collectives(); }

  bool supportsCoalescing() const override { return inner_->supportsCoalescing(); }
  void startCoalescing() override { inner_->startCoalescing(); }
  WorkPtr endCoalescing() override { return inner_->endCoalescing(); }

  void abort() override;
  void shutdown() override;

 private:
  struct Called {
    Called(const char* name, std::chrono::milliseconds timeout = c10d::kUnsetTimeout) : name(name), timeout(timeout) {}
    const char* name;
    std::chrono::milliseconds timeout;  // of this call; unset: the group's
  };
  // Runs `issue`, which gives the backend's works. `call` says what all ranks must agree on.
  template <typename Call, typename Issue>
  WorkPtr run(const Called& called, Tensors results, int peer, Call&& call, Issue&& issue,
              std::function<void()> finish = nullptr);
  // Waits for works that run on the waiting thread, whose caller would do so at once; null is what has run already, a
  // collective of `type`.
  WorkPtr run_here(Collective& collective, const GuardedWork::Inner& inner, c10d::OpType type);
  template <typename Issue>
  WorkPtr run_messages(const char* name, Tensors tensors, int peer, Issue&& issue);
  template <typename Issue>
  auto issue_in_turn(Issue&& issue);
  void end_coalescing_after_failure();
  WorkPtr compose_reduce_scatter(const char* name, const Tensors& inputs, const at::Tensor& output,
                                 const c10d::ReduceOp& op);

  const std::shared_ptr<GroupState> state_;
  c10::intrusive_ptr<c10d::Backend> inner_;
  std::shared_ptr<BackendControl> control_;
  const BackendTraits traits_;
  const GuardedWork::Helpers helpers_;  // go before what they wait for
  const std::shared_ptr<CollectiveCheck> check_;
};

}  // namespace tandem
