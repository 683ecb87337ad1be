#include "comm/hosts/connect.h"

#include "comm/gloo/connect.h"
#include "comm/hosts/hosts_backend.h"

namespace tandem::hosts {
namespace {

std::vector<shm::Descriptor> connect_failure_channel(const shm::Connecting& connecting, const GlooDevices& devices) {
  const auto check = [&connecting] {
    if (connecting.cancelled) throw Error(ErrorCode::kAborted, "meeting the other ranks was aborted");
  };
  GroupBootstrap& bootstrap = connecting.bootstrap;
  if (devices.endpoints().empty()) throw Error(ErrorCode::kInternal, "Gloo does not say where it listens");
  const net::GuardedListener socket(devices.endpoints().front().address);
  std::vector<net::GuardedAddress> addresses;
  for (const std::string& bytes : bootstrap.all_gather(socket.address().encode())) {
    addresses.push_back(net::GuardedAddress::decode(bytes));
  }
  const auto deadline = FailureChannel::Clock::now() + bootstrap.options().timeout;
  return FailureChannel::connect(bootstrap.rank(), addresses, socket, bootstrap.options().name, deadline, check);
}

}  // namespace

c10::intrusive_ptr<ShmBackend> connect(const shm::Connecting& connecting, const HostMap& map,
                                       const std::shared_ptr<GroupState>& state) {
  GroupBootstrap& bootstrap = connecting.bootstrap;
  std::vector<RankInfo> ranks;
  const GlooDevices devices = exchange_gloo_listeners(bootstrap, &ranks);
  const auto others = static_cast<std::size_t>(map.size() - 1);
  bootstrap.require_descriptors(descriptors_of_gloo(devices, map.size()) + others +
                                shm::descriptors_of_shm(map.local_ranks().size() - 1));
  auto sockets = connect_failure_channel(connecting, devices);
  const auto peers = shm::connect_local_ranks(connecting, map.local_ranks());
  const auto gloo = connect_gloo(bootstrap, devices, ranks, state);
  return HostsBackend::make(state, peers, map, gloo, std::move(sockets), bootstrap.options().timeout);
}

}  // namespace tandem::hosts
