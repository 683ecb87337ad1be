// Tandem's own backend: ranks of one host exchange CPU tensors through shared memory.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/backend_control.h"
#include "comm/group_state.h"
#include "comm/shm/heap.h"
#include "comm/shm/messenger.h"
#include "comm/shm/queue.h"

namespace tandem {

// Takes every dtype; reduces whole numbers, bool, float16, bfloat16, float32, float64, and sums complex numbers.
// Tensors must be contiguous, or dense where a collective works on one tensor alone. Its errors leave it to
// GroupBackend, which stands before it, to name the call. Thread-safe.
class ShmBackend : public c10d::Backend, public BackendControl {
 public:
  ShmBackend(std::shared_ptr<GroupState> state, const std::shared_ptr<const shm::LocalConnections>& peers,
             std::chrono::milliseconds timeout);
  ~ShmBackend() override;

  const std::string getBackendName() const override { return "shm"; }
  void setTimeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allreduce_coalesced(std::vector<at::Tensor>& tensors,
                                                     const c10d::AllreduceCoalescedOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors, const c10d::ReduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather_into_tensor_coalesced(std::vector<at::Tensor>& outputs,
                                                                 std::vector<at::Tensor>& inputs,
                                                                 const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> gather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                                        const c10d::GatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> scatter(std::vector<at::Tensor>& outputs, std::vector<std::vector<at::Tensor>>& inputs,
                                         const c10d::ScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce_scatter(std::vector<at::Tensor>& outputs,
                                                std::vector<std::vector<at::Tensor>>& inputs,
                                                const c10d::ReduceScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                      const c10d::ReduceScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce_scatter_tensor_coalesced(std::vector<at::Tensor>& outputs,
                                                                 std::vector<at::Tensor>& inputs,
                                                                 const c10d::ReduceScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& output, at::Tensor& input,
                                               std::vector<int64_t>& output_splits, std::vector<int64_t>& input_splits,
                                               const c10d::AllToAllOptions& options) override;
  c10::intrusive_ptr<c10d::Work> alltoall(std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs,
                                          const c10d::AllToAllOptions& options) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override;
  c10::intrusive_ptr<c10d::Work> recvAnysource(std::vector<at::Tensor>& tensors, int tag) override;

  BackendTraits traits() const override;
  void finish(const std::string& reason) override;
  void fail(const Error& failure) override;
  void abort(const Error& reason) override;
  using c10d::Backend::abort;

  const std::shared_ptr<shm::Heap>& heap() const { return heap_; }

 protected:
  // `peers` are those of this host, `performer` reaches all ranks. For who sends messages in another way.
  ShmBackend(std::shared_ptr<GroupState> state, const std::shared_ptr<const shm::LocalConnections>& peers,
             std::unique_ptr<shm::Performer> performer, std::chrono::milliseconds timeout);

  // Throws Error (kInvalidArgument). No peer: any rank.
  void check_message(const char* call, const std::vector<at::Tensor>& tensors, std::optional<int> peer, int tag) const;

 private:
  struct Call;
  // Null: it has run.
  template <typename Body>
  c10::intrusive_ptr<c10d::Work> issue(Call call, Body body);
  c10::intrusive_ptr<c10d::Work> start_message(c10d::OpType type, const char* call, const char* title,
                                               std::vector<at::Tensor>& tensors, int peer, int tag);

  const std::shared_ptr<GroupState> state_;
  const std::shared_ptr<shm::Heap> heap_;
  const std::shared_ptr<shm::Queue> queue_;
  const bool lacks_cores_;
  std::shared_ptr<shm::Messenger> messenger_;  // null where messages go another way
  std::atomic<std::chrono::milliseconds> timeout_;
};

}  // namespace tandem
