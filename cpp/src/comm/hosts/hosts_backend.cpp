#include "comm/hosts/hosts_backend.h"

#include "comm/hosts/gloo_wire.h"
#include "comm/issue_turns.h"
#include "comm/shm/checks.h"

namespace tandem::hosts {

using WorkPtr = HostsBackend::WorkPtr;

c10::intrusive_ptr<HostsBackend> HostsBackend::make(const std::shared_ptr<GroupState>& state,
                                                    const std::shared_ptr<const shm::LocalConnections>& peers,
                                                    const HostMap& map, const c10::intrusive_ptr<GlooBackend>& gloo,
                                                    std::vector<shm::Descriptor> sockets,
                                                    std::chrono::milliseconds timeout) {
  auto inside = std::make_unique<shm::Exchange>(peers, state->shared_latch());
  auto failures = std::make_shared<FailureChannel>(std::move(sockets));
  auto performer = std::make_unique<HostsPerformer>(
      std::move(inside), std::make_shared<GlooWire>(gloo, state->shared_latch()), map, failures);
  const HostsPerformer& running = *performer;  // for as long as the backend's queue
  auto backend = c10::make_intrusive<HostsBackend>(state, peers, std::move(performer), gloo, failures, timeout);
  failures->watch(
      [weak = std::weak_ptr<GroupState>(state)](const Error& failure) {
        if (const auto held = weak.lock()) held->fail(failure);
      },
      [&running] { return running.busy(); });
  return backend;
}

HostsBackend::HostsBackend(const std::shared_ptr<GroupState>& state,
                           const std::shared_ptr<const shm::LocalConnections>& peers,
                           std::unique_ptr<HostsPerformer> performer, c10::intrusive_ptr<GlooBackend> gloo,
                           std::shared_ptr<FailureChannel> failures, std::chrono::milliseconds timeout)
    : ShmBackend(state, peers, std::move(performer), timeout), gloo_(std::move(gloo)), failures_(std::move(failures)) {}

HostsBackend::~HostsBackend() {
  // Tells the others first, so that who is not done yet is not told otherwise by the end of the connections.
  finish("the group was destroyed");
  failures_->stop();
}

BackendTraits HostsBackend::traits() const {
  BackendTraits traits = ShmBackend::traits();
  traits.waits_for_messages = true;
  traits.lacks_cores = false;  // they wait for the network
  return traits;
}

void HostsBackend::setTimeout(std::chrono::milliseconds timeout) {
  ShmBackend::setTimeout(timeout);
  gloo_->setTimeout(timeout);
}

template <typename Start>
WorkPtr HostsBackend::start(const char* call, const Tensors& tensors, std::optional<int> peer, int tag, Start&& start) {
  check_message(call, tensors, peer, tag);
  if (tag == GlooWire::kTag) {
    shm::refuse(call, "the tag " + std::to_string(tag) + " is the backend's own; use another one");
  }
  std::lock_guard<std::mutex> lock(turn_to_issue());
  return start();
}

WorkPtr HostsBackend::send(Tensors& tensors, int to, int tag) {
  return start("send", tensors, to, tag, [&] { return gloo_->send(tensors, to, tag); });
}

WorkPtr HostsBackend::recv(Tensors& tensors, int from, int tag) {
  return start("recv", tensors, from, tag, [&] { return gloo_->recv(tensors, from, tag); });
}

WorkPtr HostsBackend::recvAnysource(Tensors& tensors, int tag) {
  return start("recv", tensors, std::nullopt, tag, [&] { return gloo_->recvAnysource(tensors, tag); });
}

}  // namespace tandem::hosts
