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
#include "comm/store/head_count.h"
#include "comm/store/interruptible_store.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

// Of the ranks that have made the group, which ask the store nothing more until they leave. Then of those that know, when
// they leave, that all have made it.
const HeadCount& made() {
  static const auto* count = new HeadCount("made");
  return *count;
}
const HeadCount& assured() {
  static const auto* count = new HeadCount("assured");
  return *count;
}
// When one rank has made the group, all are about to.
constexpr std::chrono::seconds kUntilMade{2};
// Others that leave together with the rank that serves the store; less than a process has to end.
constexpr std::chrono::milliseconds kUntilAssured{500};

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
  channel->serves_store = rendezvous.serves_store;
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
  channel->tell_made();
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

bool Channel::meets_others() const {
  return kind != BackendKind::kNone && state->size() > 1;
}

void Channel::end(const std::string& reason) {
  if (!backend->close(reason)) return;
  await_others();
  if (state->has_connections()) state->close_connections();
}

void Channel::tell_made() const {
  if (!meets_others()) return;
  try {
    made().come(store, state->size());
  } catch (const std::exception&) {
    // Whoever serves the store has ended, with a rank of this group or not: collectives say which.
  }
}

// Where a collective has shown that all ranks have made the group, none of them asks the store.
void Channel::await_others() const {
  if (!meets_others() || state->is_complete()) return;
  // To those that have not connected yet the end of Gloo's connections would be a failure to connect.
  const bool all_wait = state->has_connections();
  // LibTorch's client warns, with a backtrace, of a server that goes while it asks, or has gone before.
  if ((!all_wait && !serves_store) || store.has_lost_server()) return;
  const auto deadline = std::chrono::steady_clock::now() + kUntilMade;
  try {
    const StoreLimit limit(deadline);
    if (!made().await_all(store, deadline) || !all_wait) return;
    assured().come(store, state->size());
    if (serves_store) {
      assured().await_all(store, std::min(deadline, std::chrono::steady_clock::now() + kUntilAssured));
    }
  } catch (const std::exception&) {
    // Whoever serves the store has ended: nobody is on the way any more.
  }
}

}  // namespace tandem
