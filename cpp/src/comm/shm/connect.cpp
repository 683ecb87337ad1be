#include "comm/shm/connect.h"

#include <algorithm>
#include <numeric>

namespace tandem::shm {

std::shared_ptr<const Peers> connect_neighbours(const Arrival& arrival, std::vector<int> ranks, int rank) {
  const auto deadline = Exchange::Clock::now() + arrival.options.timeout;
  Neighbours who;
  who.group = arrival.options.name;
  who.group_size = static_cast<int>(arrival.roster.members.size());
  who.self = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  who.numbers = std::move(ranks);
  std::vector<std::string> names;
  for (const int number : who.numbers) names.push_back(arrival.roster.members[number].door);
  const auto own = Segment::create(segment_bytes(names.size()));
  const auto peers =
      std::make_shared<const Peers>(connect_peers(who, names, arrival.door, own, deadline, arrival.cancelled));
  own->close_descriptor();
  return peers;
}

c10::intrusive_ptr<ShmBackend> connect(const Arrival& arrival, const std::shared_ptr<GroupState>& state) {
  std::vector<int> ranks(arrival.roster.members.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto peers = connect_neighbours(arrival, std::move(ranks), state->rank());
  return c10::make_intrusive<ShmBackend>(state, peers, arrival.options.timeout);
}

}  // namespace tandem::shm
