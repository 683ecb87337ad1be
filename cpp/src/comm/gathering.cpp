#include "comm/gathering.h"

#include <unistd.h>

#include "comm/environment.h"
#include "comm/interruptible_store.h"

namespace tandem {
namespace {

GlooDevices choose_devices(const ProcessGroupOptions& options, const Meeting& meeting) {
  std::string names = options.interface_name;
  if (names.empty()) names = environment_variable("GLOO_SOCKET_IFNAME").value_or("");
  if (!names.empty()) return GlooDevices::for_interfaces(names);
  const std::string& local = meeting.local_address;
  // "" is a store without an address. Ranks on several hosts then find out when they assemble.
  return GlooDevices::for_address(local.empty() || net::is_loopback(local) ? "127.0.0.1" : local);
}

void check_reachable(const Member& member, std::size_t rank) {
  for (const net::Endpoint& listener : member.listeners) {
    if (!net::is_loopback(listener.address)) return;
  }
  throw Error(ErrorCode::kIo, "ranks are on several hosts, but the name of rank " + std::to_string(rank) + "'s host, " +
                                  member.host_name +
                                  ", resolves to loopback, where the others cannot reach it; name a "
                                  "network interface (GLOO_SOCKET_IFNAME)");
}

}  // namespace

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
  for (std::size_t rank = 0; rank < roster.members.size(); ++rank) check_reachable(roster.members[rank], rank);
  return {std::move(devices), std::move(roster)};
}

c10::intrusive_ptr<c10d::Backend> connect_gloo(const Gathered& gathered, const ProcessGroupOptions& options,
                                               const std::shared_ptr<GroupState>& state, const Store& store) {
  std::vector<std::vector<net::Endpoint>> listeners;
  for (const auto& member : gathered.roster.members) listeners.push_back(member.listeners);
  state->set_listeners(std::move(listeners));
  const net::SigpipeBlocked blocked;
  try {
    const auto calls = c10::make_intrusive<InterruptibleStore>(store, state->store_calls());
    return make_gloo_backend(*state, calls, gathered.devices, options.timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(state->rank()) +
                                          " could not connect to all ranks of group '" + options.name +
                                          "': " + (of_libtorch ? of_libtorch->what_without_backtrace() : error.what()));
  }
}

}  // namespace tandem
