#include "comm/gloo/connect.h"

#include "comm/bootstrap/gathered_store.h"
#include "comm/environment.h"
#include "comm/gloo/failure.h"

namespace tandem {
namespace {

GlooDevices choose_devices(const ProcessGroupOptions& options, const Rendezvous& rendezvous) {
  std::string names = options.interface_name;
  if (names.empty()) names = environment_variable("GLOO_SOCKET_IFNAME").value_or("");
  if (!names.empty()) return GlooDevices::for_interfaces(names);
  const std::string& local = rendezvous.local_address;
  // "" is a store without an address. Ranks on several hosts then find out when they tell each other.
  return GlooDevices::for_address(local.empty() || net::is_loopback(local) ? "127.0.0.1" : local);
}

void check_reachable(const RankInfo& info, std::size_t rank) {
  for (const net::Endpoint& listener : info.listeners) {
    if (!net::is_loopback(listener.address)) return;
  }
  throw Error(ErrorCode::kIo, "ranks are on several hosts, but the name of rank " + std::to_string(rank) + "'s host, " +
                                  info.host_name +
                                  ", resolves to loopback, where the others cannot reach it; name a "
                                  "network interface (GLOO_SOCKET_IFNAME)");
}

c10::intrusive_ptr<c10d::ProcessGroupGloo::Options> options_of(const GlooDevices& devices,
                                                               std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices = devices.transports();
  options->threads = static_cast<int>(2 * devices.transports().size());  // as PyTorch has it
  return options;
}

}  // namespace

std::size_t descriptors_of_gloo(const GlooDevices& devices, int size) {
  constexpr std::size_t kForAMoment = 8;  // sockets of connections that cross, a connection to wait on
  return devices.endpoints().size() * static_cast<std::size_t>(size - 1) + kForAMoment;
}

GlooDevices exchange_gloo_listeners(GroupBootstrap& bootstrap, std::vector<RankInfo>* ranks) {
  RankInfo self = bootstrap.self();
  GlooDevices devices = choose_devices(bootstrap.options(), bootstrap.rendezvous());
  self.listeners = devices.endpoints();
  bootstrap.require_descriptors(descriptors_of_gloo(devices, bootstrap.size()));
  *ranks = bootstrap.exchange(self);
  const bool on_loopback = !self.listeners.empty() && net::is_loopback(self.listeners.front().address);
  bool all_on_loopback = true;
  for (const RankInfo& info : *ranks) {
    for (const net::Endpoint& listener : info.listeners) all_on_loopback &= net::is_loopback(listener.address);
  }
  if (is_one_host(*ranks) || !all_on_loopback || !on_loopback) return devices;
  // Loopback was a guess. Ranks are on several hosts: listen where this host's name points to, and tell again.
  devices = GlooDevices::for_this_host();
  self.listeners = devices.endpoints();
  *ranks = bootstrap.exchange(self);
  for (std::size_t rank = 0; rank < ranks->size(); ++rank) check_reachable((*ranks)[rank], rank);
  return devices;
}

c10::intrusive_ptr<GlooBackend> connect_gloo(GroupBootstrap& bootstrap, const GlooDevices& devices,
                                             const std::vector<RankInfo>& ranks,
                                             const std::shared_ptr<GroupState>& state) {
  std::vector<std::vector<net::Endpoint>> listeners;
  for (const RankInfo& info : ranks) listeners.push_back(info.listeners);
  state->set_listeners(std::move(listeners));
  const net::SigpipeBlocked blocked;
  const auto store = c10::make_intrusive<GatheredStore>(
      [&bootstrap](const std::string& bytes) { return bootstrap.all_gather(bytes); });
  try {
    auto backend = c10::make_intrusive<GlooBackend>(store, state->rank(), state->size(),
                                                    options_of(devices, bootstrap.options().timeout));
    store->close();
    backend->join(state);
    return backend;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(state->rank()) +
                                          " could not connect to all ranks of group '" + bootstrap.options().name +
                                          "': " + plain_text(error));
  }
}

}  // namespace tandem
