#include "comm/channel.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "comm/collective_check.h"
#include "comm/gathering.h"
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

// Of the ranks that are connected to all others, the number.
constexpr const char* kConnectedKey = "connected";
// A rank that others have connected to has only those left that are connecting as well.
constexpr std::chrono::seconds kUntilConnected{2};

// Null when the ranks are on several hosts, and the backend may be another and had better be.
c10::intrusive_ptr<ShmBackend> connect_shm(const ProcessGroupOptions& options, const Meeting& meeting,
                                           const std::shared_ptr<GroupState>& state, bool only_shm, Store* store) {
  const Cancellation cancellation;
  const shm::Door door(meeting.world_size);
  Member self = introduce(options, meeting);
  self.door = door.name();
  const Roster roster = assemble(meeting, options.name, self, options.timeout, cancellation.cancelled);
  std::vector<std::string> identities;
  for (const Member& member : roster.members) identities.push_back(member.host_identity);
  const hosts::HostMap map(identities, meeting.rank);
  *store = prefix_store("shm", roster.store);
  const shm::Arrival arrival{options, roster, door, cancellation.cancelled};
  if (map.hosts() == 1) return shm::connect(arrival, state);
  if (!only_shm && !map.has_neighbours()) return {};
  Meeting again = meeting;
  again.store = roster.store;
  return hosts::connect(arrival, map, gather(options, again, cancellation.cancelled), state, store);
}

std::vector<DeviceKind> devices_of(BackendKind kind) {
  if (kind == BackendKind::kNccl) return {DeviceKind::kCuda};
  if (kind == BackendKind::kShm || !has_cuda()) return {DeviceKind::kCpu};
  return {DeviceKind::kCpu, DeviceKind::kCuda};
}

}  // namespace

std::shared_ptr<Channel> Channel::open(const BackendEntry& entry, const ProcessGroupOptions& options,
                                       const Meeting& meeting) {
  auto channel = std::make_shared<Channel>();
  channel->kind = entry.kind;
  channel->state = std::make_shared<GroupState>(options.name, meeting.rank, meeting.world_size, options.timeout);
  channel->store = meeting.store;
  channel->type = BackendType::CUSTOM;
  BackendTraits traits;
  c10::intrusive_ptr<c10d::Backend> backend;
  if (entry.kind == BackendKind::kShm || entry.kind == BackendKind::kAuto) {
    backend = connect_shm(options, meeting, channel->state, entry.kind == BackendKind::kShm, &channel->store);
    channel->kind = backend ? BackendKind::kShm : BackendKind::kGloo;
  }
  switch (channel->kind) {
    case BackendKind::kShm:
    case BackendKind::kAuto:
      traits.takes_lists = traits.runs_when_waited = true;
      traits.waits_for_messages = dynamic_cast<const hosts::HostsBackend*>(backend.get()) != nullptr;
      break;
    case BackendKind::kGloo: {
      const Cancellation cancellation;
      const Gathered gathered = gather(options, meeting, cancellation.cancelled);
      channel->store = prefix_store("gloo", gathered.roster.store);
      backend = connect_gloo(gathered, options, channel->state, channel->store);
      static_cast<GlooBackend&>(*backend).join(channel->state);
      channel->type = BackendType::GLOO;
      traits.averages = traits.reduces_scattered = false;
      traits.waits_for_messages = traits.in_turns = true;
      break;
    }
    case BackendKind::kNccl: {
      const Member self = introduce(options, meeting);
      Cancellation cancellation;
      const Roster roster = assemble(meeting, options.name, self, options.timeout, cancellation.cancelled);
      channel->store = prefix_store("nccl", roster.store);
      backend = make_nccl_backend(channel->own_store("backend"), meeting.rank, meeting.world_size, options.timeout,
                                  options.device);
      channel->type = BackendType::NCCL;
      NcclGroups::instance().add(channel->state, backend);
      traits.completes = false;
      break;
    }
    case BackendKind::kNone:
      backend = c10::make_intrusive<NoneBackend>(meeting.rank, meeting.world_size);
      break;
  }
  channel->devices = entry.devices.empty() ? devices_of(channel->kind) : entry.devices;
  std::shared_ptr<CollectiveCheck> check;
  if (CollectiveCheck::is_wanted() && channel->kind != BackendKind::kNone) {
    check = std::make_shared<CollectiveCheck>(channel->state, channel->own_store("check"), options.timeout);
  }
  channel->backend = c10::make_intrusive<GroupBackend>(channel->state, backend, traits, std::move(check));
  if (channel->state->has_connections() && channel->store->add(kConnectedKey, 1) == meeting.world_size) {
    channel->state->set_complete();
  }
  return channel;
}

Store Channel::own_store(const std::string& prefix) const {
  return prefix_store(prefix, c10::make_intrusive<InterruptibleStore>(store, state->store_calls()));
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

void Channel::await_connected() const {
  if (state->is_complete()) return;
  const auto deadline = std::chrono::steady_clock::now() + kUntilConnected;
  try {
    const StoreLimit limit(deadline);
    while (store->add(kConnectedKey, 0) < state->size() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
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
