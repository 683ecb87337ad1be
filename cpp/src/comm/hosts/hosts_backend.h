// The shm backend of ranks on several hosts.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/hosts/failure_channel.h"
#include "comm/gloo/gloo_backend.h"
#include "comm/hosts/host_map.h"
#include "comm/hosts/hosts_performer.h"
#include "comm/shm/shm_backend.h"

namespace tandem::hosts {

// Collectives go through shared memory inside each host and through Gloo between hosts; messages go through Gloo, those
// between ranks of a host included: a receive from any rank must see them all. Those need waiting for (BackendTraits).
class HostsBackend final : public ShmBackend {
 public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  // `peers`: of this host; `gloo`: a group of all ranks, for this backend alone; `sockets`: what
  // FailureChannel::connect() gave.
  static c10::intrusive_ptr<HostsBackend> make(const std::shared_ptr<GroupState>& state,
                                               const std::shared_ptr<const shm::LocalConnections>& peers,
                                               const HostMap& map, const c10::intrusive_ptr<GlooBackend>& gloo,
                                               std::vector<shm::Descriptor> sockets, std::chrono::milliseconds timeout);

  HostsBackend(const std::shared_ptr<GroupState>& state, const std::shared_ptr<const shm::LocalConnections>& peers,
               std::unique_ptr<HostsPerformer> performer, c10::intrusive_ptr<GlooBackend> gloo,
               std::shared_ptr<FailureChannel> failures, std::chrono::milliseconds timeout);
  ~HostsBackend() override;

  BackendTraits traits() const override;
  void setTimeout(std::chrono::milliseconds timeout) override;

  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

 private:
  template <typename Start>
  WorkPtr start(const char* call, const Tensors& tensors, std::optional<int> peer, int tag, Start&& start);

  const c10::intrusive_ptr<GlooBackend> gloo_;
  const std::shared_ptr<FailureChannel> failures_;
};

}  // namespace tandem::hosts
