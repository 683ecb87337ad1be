#include "comm/channel.h"

#include <unistd.h>

#include <algorithm>

#include "comm/collective_check.h"
#include "comm/environment.h"
#include "comm/gloo_backend.h"
#include "comm/nccl_library.h"
#include "comm/none_backend.h"
#include "comm/shm/connect.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

GlooDevices choose_devices(const ProcessGroupOptions& options, const Meeting& meeting) {
  std::string names = options.interface_name;
  if (names.empty()) names = environment_variable("GLOO_SOCKET_IFNAME").value_or("");
  if (!names.empty()) return GlooDevices::for_interfaces(names);
  const std::string& local = meeting.local_address;
  // "" is a store without an address. Ranks on several hosts then find out when they assemble.
  return GlooDevices::for_address(local.empty() || net::is_loopback(local) ? "127.0.0.1" : local);
}

struct Gathered {
  GlooDevices devices;
  Roster roster;
};

Member introduce(const ProcessGroupOptions& options, const Meeting& meeting) {
  Member self;
  self.world_size = meeting.world_size;
  self.host_name = net::host_name();
  self.host_identity = net::host_identity();
  self.process = ::getpid();
  self.backend = options.backend;
  return self;
}

Gathered gather(const ProcessGroupOptions& options, const Meeting& meeting, const std::atomic<bool>& cancelled) {
  Member self = introduce(options, meeting);
  GlooDevices devices = choose_devices(options, meeting);
  self.listeners = devices.endpoints();
  Roster roster = assemble(meeting, options.name, self, options.timeout, cancelled);
  const bool on_loopback = !self.listeners.empty() && net::is_loopback(self.listeners.front().address);
  bool all_on_loopback = true;
  for (const auto& member : roster.members) {
    for (const auto& listener : member.listeners) all_on_loopback &= net::is_loopback(listener.address);
  }
  if (roster.one_host || !all_on_loopback || !on_loopback) return {std::move(devices), std::move(roster)};
  // Loopback was a guess. Ranks are on several hosts: listen where this host's name points to, and tell again.
  devices = GlooDevices::for_this_host();
  self.listeners = devices.endpoints();
  Meeting again = meeting;
  again.store = roster.store;
  roster = assemble(again, options.name, self, options.timeout, cancelled);
  return {std::move(devices), std::move(roster)};
}

c10::intrusive_ptr<c10d::Backend> connect_gloo(const ProcessGroupOptions& options, const Meeting& meeting,
                                               const std::shared_ptr<GroupState>& state, Store* store) {
  Cancellation cancellation;
  Gathered gathered = gather(options, meeting, cancellation.cancelled);
  std::vector<std::vector<net::Endpoint>> listeners;
  for (const auto& member : gathered.roster.members) listeners.push_back(member.listeners);
  state->set_listeners(std::move(listeners));
  *store = prefix_store("gloo", gathered.roster.store);
  net::SigpipeBlocked blocked;
  try {
    return make_gloo_backend(*state, *store, gathered.devices, options.timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(meeting.rank) +
                                          " could not connect to all ranks of group '" + options.name +
                                          "': " + (of_libtorch ? of_libtorch->what_without_backtrace() : error.what()));
  }
}

// Null when the ranks are on several hosts and the backend may be another.
c10::intrusive_ptr<ShmBackend> connect_shm(const ProcessGroupOptions& options, const Meeting& meeting,
                                           const std::shared_ptr<GroupState>& state, bool only_shm, Store* store) {
  Cancellation cancellation;
  Roster roster;
  auto backend =
      shm::connect(options, meeting, introduce(options, meeting), state, store, cancellation.cancelled, &roster);
  if (backend || !only_shm) return backend;
  throw Error(ErrorCode::kUnsupported,
              "backend shm exchanges through the memory of one host, but group '" + options.name + "' has " +
                  shm::hosts_of(roster) +
                  " (a container with a network of its own is a host); use backend auto or gloo");
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
      break;
    case BackendKind::kGloo:
      backend = connect_gloo(options, meeting, channel->state, &channel->store);
      channel->type = BackendType::GLOO;
      traits.averages = traits.reduces_scattered = false;
      traits.waits_for_messages = traits.in_turns = true;
      break;
    case BackendKind::kNccl: {
      const Member self = introduce(options, meeting);
      Cancellation cancellation;
      const Roster roster = assemble(meeting, options.name, self, options.timeout, cancellation.cancelled);
      channel->store = prefix_store("nccl", roster.store);
      backend = make_nccl_backend(channel->store, meeting.rank, meeting.world_size, options.timeout, options.device);
      channel->type = BackendType::NCCL;
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
    check = std::make_shared<CollectiveCheck>(channel->state, channel->store, options.timeout);
  }
  channel->backend = c10::make_intrusive<GroupBackend>(channel->state, backend, traits, std::move(check));
  return channel;
}

bool Channel::serves(c10::DeviceType device) const {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](DeviceKind one) { return to_device_type(one) == device; });
  return found != devices.end();
}

void Channel::end(const std::string& reason) {
  state->abort(reason, /*quietly=*/true);
  c10d::Backend& inner = *backend->inner();
  if (kind == BackendKind::kNccl) inner.abort();
  if (kind == BackendKind::kShm) static_cast<ShmBackend&>(inner).end(reason, /*quietly=*/true);
}

void Channel::fail(const Error& failure) {
  if (!state->fail(failure)) return;
  c10d::Backend& inner = *backend->inner();
  if (kind == BackendKind::kNccl) inner.abort();
  if (kind == BackendKind::kShm) static_cast<ShmBackend&>(inner).fail(failure);
}

}  // namespace tandem
