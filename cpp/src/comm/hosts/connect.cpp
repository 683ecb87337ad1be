#include "comm/hosts/connect.h"

#include "comm/hosts/hosts_backend.h"
#include "comm/notes.h"

namespace tandem::hosts {
namespace {

std::vector<shm::Descriptor> connect_lines(const shm::Arrival& arrival, const HostMap& map, const Gathered& gathered,
                                           const Store& store) {
  const auto check = [&arrival] {
    if (arrival.cancelled) throw Error(ErrorCode::kAborted, "meeting the other ranks was aborted");
  };
  const ProcessGroupOptions& options = arrival.options;
  if (gathered.devices.endpoints().empty()) throw Error(ErrorCode::kInternal, "Gloo does not say where it listens");
  const LineSocket socket(gathered.devices.endpoints().front().address);
  Notes notes(store, map.rank(), map.size());
  std::vector<LineAddress> addresses;
  for (const std::string& note : notes.exchange(socket.address().encode(), options.timeout, check)) {
    addresses.push_back(LineAddress::decode(note));
  }
  return Lines::connect(map.rank(), addresses, socket, options.name, Lines::Clock::now() + options.timeout, check);
}

}  // namespace

c10::intrusive_ptr<ShmBackend> connect(const shm::Arrival& arrival, const HostMap& map, const Gathered& gathered,
                                       const std::shared_ptr<GroupState>& state, Store* store) {
  *store = prefix_store("hosts", gathered.roster.store);
  auto sockets = connect_lines(arrival, map, gathered, prefix_store("lines", *store));
  const auto peers = shm::connect_neighbours(arrival, map.neighbours(), map.rank());
  const auto gloo = connect_gloo(gathered, arrival.options, state, prefix_store("gloo", *store));
  return HostsBackend::make(state, peers, map, gloo, std::move(sockets), arrival.options.timeout);
}

}  // namespace tandem::hosts
