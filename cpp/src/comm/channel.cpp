#include "comm/channel.h"

#include <algorithm>
#include <chrono>

#include "comm/collective_check.h"
#include "comm/gloo_connect.h"
#include "comm/gloo_messages.h"
#include "comm/hosts/connect.h"
#include "comm/hosts/hosts_backend.h"
#include "comm/interruptible_store.h"
#include "comm/nccl_groups.h"
#include "comm/nccl_library.h"
#include "comm/none_backend.h"
#include "comm/shm/connect.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

// Of the ranks that are connected to all others, the number; and whether that is all of them.
constexpr const char* kConnectedKey = "connected";
constexpr const char* kAllConnectedKey = "all_connected";
// A rank that others have connected to has only those left that are connecting as well.
constexpr std::chrono::seconds kUntilConnected{2};

// Null when the ranks are on several hosts, and the backend may be another and had better be.
c10::intrusive_ptr<ShmBackend> connect_shm(GroupBootstrap& bootstrap, const std::shared_ptr<GroupState>& state,
                                           bool only_shm, const std::atomic<bool>& cancelled) {
  const shm::LocalListener listener(bootstrap.size());
  RankInfo self = bootstrap.self();
  self.local_listener = listener.name();
  // With ranks on other hosts it takes more.
  bootstrap.require_descriptors(shm::descriptors_of_shm(static_cast<std::size_t>(bootstrap.size() - 1)));
  const std::vector<RankInfo> ranks = bootstrap.exchange(self);
  std::vector<std::string> identities;
  for (const RankInfo& info : ranks) identities.push_back(info.host_identity);
  const hosts::HostMap map(identities, bootstrap.rank());
  const shm::Connecting connecting{bootstrap, ranks, listener, cancelled};
  if (map.hosts() == 1) return shm::connect(connecting, state);
  if (!only_shm && !map.has_neighbours()) return {};
  return hosts::connect(connecting, map, state);
}

c10::intrusive_ptr<c10d::Backend> connect_gloo(GroupBootstrap& bootstrap, const std::shared_ptr<GroupState>& state) {
  std::vector<RankInfo> ranks;
  const GlooDevices devices = exchange_gloo_listeners(bootstrap, &ranks);
  return connect_gloo(bootstrap, devices, ranks, state);
}

std::vector<DeviceKind> devices_of(BackendKind kind) {
  if (kind == BackendKind::kNccl) return {DeviceKind::kCuda};
  if (kind == BackendKind::kShm || !has_cuda()) return {DeviceKind::kCpu};
  return {DeviceKind::kCpu, DeviceKind::kCuda};
}

}  // namespace

std::shared_ptr<Channel> Channel::open(const BackendEntry& entry, const ProcessGroupOptions& options,
                                       const Rendezvous& rendezvous) {
  auto channel = std::make_shared<Channel>();
  channel->kind = entry.kind;
  channel->state = std::make_shared<GroupState>(options.name, rendezvous.rank, rendezvous.world_size, options.timeout);
  channel->store = rendezvous.store;
  channel->type = BackendType::CUSTOM;
  BackendTraits traits;
  c10::intrusive_ptr<c10d::Backend> backend;
  if (entry.kind == BackendKind::kNone) {
    backend = c10::make_intrusive<NoneBackend>(rendezvous.rank, rendezvous.world_size);
  } else {
    const Cancellation cancellation;
    GroupBootstrap bootstrap(options, rendezvous);
    channel->store = bootstrap.store();
    try {
      backend = channel->connect(bootstrap, cancellation.cancelled, &traits);
    } catch (const Error& error) {
      bootstrap.refuse(error);
      throw;
    }
    bootstrap.finish();
  }
  channel->devices = entry.devices.empty() ? devices_of(channel->kind) : entry.devices;
  std::shared_ptr<CollectiveCheck> check;
  if (CollectiveCheck::is_wanted() && channel->kind != BackendKind::kNone) {
    check = std::make_shared<CollectiveCheck>(channel->state, channel->store.under("check"), options.timeout);
  }
  channel->backend = c10::make_intrusive<GroupBackend>(channel->state, backend, traits, std::move(check));
  if (channel->state->has_connections()) channel->tell_connected();
  return channel;
}

c10::intrusive_ptr<c10d::Backend> Channel::connect(GroupBootstrap& bootstrap, const std::atomic<bool>& cancelled,
                                                   BackendTraits* traits) {
  c10::intrusive_ptr<c10d::Backend> backend;
  if (kind == BackendKind::kShm || kind == BackendKind::kAuto) {
    backend = connect_shm(bootstrap, state, kind == BackendKind::kShm, cancelled);
    kind = backend ? BackendKind::kShm : BackendKind::kGloo;
  }
  switch (kind) {
    case BackendKind::kShm:
      traits->takes_lists = traits->runs_when_waited = true;
      traits->waits_for_messages = dynamic_cast<const hosts::HostsBackend*>(backend.get()) != nullptr;
      break;
    case BackendKind::kGloo:
      backend = connect_gloo(bootstrap, state);
      static_cast<GlooBackend&>(*backend).join(state);
      type = BackendType::GLOO;
      traits->averages = traits->reduces_scattered = false;
      traits->waits_for_messages = traits->in_turns = true;
      break;
    case BackendKind::kNccl:
      bootstrap.exchange(bootstrap.self());
      backend = make_nccl_backend(own_store("backend"), bootstrap.rank(), bootstrap.size(), bootstrap.options().timeout,
                                  bootstrap.options().device);
      type = BackendType::NCCL;
      NcclGroups::instance().add(state, backend);
      traits->completes = false;
      break;
    case BackendKind::kAuto:
    case BackendKind::kNone:
      throw Error(ErrorCode::kInternal, "this backend is not connected");
  }
  return backend;
}

Store Channel::own_store(const std::string& prefix) const {
  return prefix_store(prefix, c10::make_intrusive<InterruptibleStore>(store.store(), state->store_calls()));
}

bool Channel::serves(c10::DeviceType device) const {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](DeviceKind one) { return to_device_type(one) == device; });
  return found != devices.end();
}

void Channel::end(const std::string& reason) {
  const bool in_peace = state->close(reason);
  c10d::Backend& inner = *backend->inner();
  if (kind == BackendKind::kNccl && in_peace) NcclGroups::instance().shut_down(backend->inner());
  if (kind == BackendKind::kNccl && !in_peace) inner.abort();
  if (kind == BackendKind::kShm) static_cast<ShmBackend&>(inner).end(reason, /*quietly=*/true);
  if (!in_peace || !state->has_connections()) return;
  await_connected();
  state->close_connections();
}

void Channel::tell_connected() const {
  if (store.store()->add(kConnectedKey, 1) < state->size()) return;
  state->set_complete();
  store.store()->set(kAllConnectedKey, "");
}

void Channel::await_connected() const {
  if (state->is_complete()) return;
  const auto deadline = std::chrono::steady_clock::now() + kUntilConnected;
  try {
    const StoreLimit limit(deadline);
    store.waiter().wait(kAllConnectedKey, deadline);
  } catch (const std::exception&) {
    // Whoever serves the store has ended: nobody is on the way any more.
  }
}

void Channel::fail(const Error& failure) {
  if (!state->fail(failure)) return;
  c10d::Backend& inner = *backend->inner();
  if (kind == BackendKind::kNccl) inner.abort();
  if (kind == BackendKind::kShm) static_cast<ShmBackend&>(inner).fail(failure);
}

}  // namespace tandem
