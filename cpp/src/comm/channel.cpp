#include "comm/channel.h"

#include <algorithm>
#include <chrono>

#include "comm/collective_check.h"
#include "comm/gloo/connect.h"
#include "comm/gloo/failure.h"
#include "comm/gloo/gloo_backend.h"
#include "comm/hosts/connect.h"
#include "comm/hosts/hosts_backend.h"
#include "comm/nccl/groups.h"
#include "comm/nccl/library.h"
#include "comm/none_backend.h"
#include "comm/shm/connect.h"
#include "comm/staging.h"
#include "comm/store/interruptible_store.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

// Of the ranks that are connected to all others, the number; and whether that is all of them.
constexpr const char* kConnectedKey = "connected";
constexpr const char* kAllConnectedKey = "all_connected";
// A rank that others have connected to has only those left that are connecting as well.
constexpr std::chrono::seconds kUntilConnected{2};

// Nothing when the ranks are on several hosts, and the backend may be another and had better be.
ControlledBackend connect_shm(GroupBootstrap& bootstrap, const std::shared_ptr<GroupState>& state, bool only_shm,
                              const std::atomic<bool>& cancelled) {
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
  if (map.hosts() == 1) return controlled(shm::connect(connecting, state));
  if (!only_shm && !map.has_local_ranks()) return {};
  return controlled(hosts::connect(connecting, map, state));
}

ControlledBackend connect_gloo(GroupBootstrap& bootstrap, const std::shared_ptr<GroupState>& state) {
  std::vector<RankInfo> ranks;
  const GlooDevices devices = exchange_gloo_listeners(bootstrap, &ranks);
  return controlled(connect_gloo(bootstrap, devices, ranks, state));
}

std::vector<DeviceKind> devices_of(BackendKind kind) {
  if (kind == BackendKind::kNccl) return {DeviceKind::kCuda};
  if (kind == BackendKind::kShm || !has_cuda()) return {DeviceKind::kCpu};
  return {DeviceKind::kCpu, DeviceKind::kCuda};
}

}  // namespace

std::shared_ptr<Channel> Channel::open(const BackendEntry& entry, const ProcessGroupOptions& options,
                                       const Rendezvous& rendezvous, const std::shared_ptr<FailureLatch>& latch) {
  auto channel = std::make_shared<Channel>();
  channel->kind = entry.kind;
  channel->state = GroupState::make(options.name, rendezvous.rank, rendezvous.world_size, options.timeout, latch);
  channel->store = rendezvous.store;
  channel->type = BackendType::CUSTOM;
  ControlledBackend backend;
  if (entry.kind == BackendKind::kNone) {
    backend = controlled(c10::make_intrusive<NoneBackend>(rendezvous.rank, rendezvous.world_size));
  } else {
    const Cancellation cancellation;
    GroupBootstrap bootstrap(options, rendezvous);
    channel->store = bootstrap.store();
    try {
      backend = channel->connect(bootstrap, cancellation.cancelled);
    } catch (const Error& error) {
      bootstrap.refuse(error);
      throw;
    } catch (const std::exception& other) {
      const Error error(ErrorCode::kInternal, "making group '" + options.name + "' failed: " + plain_text(other));
      bootstrap.refuse(error);
      throw error;
    }
    bootstrap.finish();
  }
  channel->devices = entry.devices.empty() ? devices_of(channel->kind) : entry.devices;
  std::shared_ptr<CollectiveCheck> check;
  if (CollectiveCheck::is_wanted() && channel->kind != BackendKind::kNone) {
    check = std::make_shared<CollectiveCheck>(channel->state, channel->store.under("check"), options.timeout);
  }
  channel->backend = GroupBackend::make(channel->state, std::move(backend), std::move(check));
  if (channel->state->has_connections()) channel->tell_connected();
  return channel;
}

ControlledBackend Channel::connect(GroupBootstrap& bootstrap, const std::atomic<bool>& cancelled) {
  if (kind == BackendKind::kShm || kind == BackendKind::kAuto) {
    ControlledBackend backend = connect_shm(bootstrap, state, kind == BackendKind::kShm, cancelled);
    kind = backend.backend ? BackendKind::kShm : BackendKind::kGloo;
    if (backend.backend) return backend;
  }
  if (kind == BackendKind::kGloo) {
    type = BackendType::GLOO;
    return connect_gloo(bootstrap, state);
  }
  if (kind != BackendKind::kNccl) throw Error(ErrorCode::kInternal, "this backend is not connected");
  type = BackendType::NCCL;
  bootstrap.exchange(bootstrap.self());
  const auto backend = make_nccl_backend(own_store("backend"), bootstrap.rank(), bootstrap.size(),
                                         bootstrap.options().timeout, bootstrap.options().device);
  return {backend, NcclGroups::instance().add(state, backend)};
}

Store Channel::own_store(const std::string& prefix) const {
  return prefix_store(prefix, c10::make_intrusive<InterruptibleStore>(store.store(), state->store_calls()));
}

bool Channel::serves(c10::DeviceType device) const {
  if (goes_through_cpu(device)) device = c10::kCPU;
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](DeviceKind one) { return to_device_type(one) == device; });
  return found != devices.end();
}

void Channel::end(const std::string& reason) {
  if (!backend->close(reason) || !state->has_connections()) return;
  await_connected();
  state->close_connections();
}

void Channel::tell_connected() const {
  try {
    const StoreLimit limit(std::chrono::steady_clock::now() + kUntilConnected);
    if (store.store()->add(kConnectedKey, 1) < state->size()) return;
    store.store()->set(kAllConnectedKey, "");
    store.store()->deleteKey(kConnectedKey);
  } catch (const std::exception&) {
    // Whoever serves the store has ended, or stands still: collectives say whether that is a rank which they need.
  }
}

// Where a collective has shown that all ranks are connected, none of them asks the store. LibTorch's client would warn,
// with a backtrace, of a server that has gone.
void Channel::await_connected() const {
  if (state->is_complete() || store.has_lost_server()) return;
  const auto deadline = std::chrono::steady_clock::now() + kUntilConnected;
  try {
    const StoreLimit limit(deadline);
    store.waiter().wait(kAllConnectedKey, deadline);
  } catch (const std::exception&) {
    // Whoever serves the store has ended: nobody is on the way any more.
  }
}

}  // namespace tandem
