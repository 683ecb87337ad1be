// LibTorch's Gloo backend with errors that name peers, AVG, and an abort that works.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <memory>

#include "comm/group_state.h"
#include "tandem/store.h"

namespace tandem {

// On which of this machine's addresses Gloo listens. Made before the peers are known, so that its endpoints can be
// told to them.
class GlooDevices {
 public:
  // By the names of network interfaces, comma-separated. Throws Error (kNotFound) naming those that exist.
  static GlooDevices for_interfaces(const std::string& names);
  static GlooDevices for_address(const std::string& address);
  // The address to which this machine's name resolves.
  static GlooDevices for_this_host();

  const std::vector<net::Endpoint>& endpoints() const { return endpoints_; }

 private:
  friend class GlooBackend;
  template <typename Make>
  void add(Make&& make);

  std::vector<std::shared_ptr<::gloo::transport::Device>> devices_;
  std::vector<net::Endpoint> endpoints_;
};

class GlooBackend final : public c10d::ProcessGroupGloo {
 public:
  // Connects to all peers. Blocks.
  GlooBackend(std::shared_ptr<GroupState> state, const Store& store, const GlooDevices& devices,
              std::chrono::milliseconds timeout);

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors, const c10d::ReduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

  void abort() override { state_->abort("the group was aborted"); }
  void shutdown() override { abort(); }

 private:
  const std::shared_ptr<GroupState> state_;
};

}  // namespace tandem
