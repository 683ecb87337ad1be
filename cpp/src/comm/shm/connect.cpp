#include "comm/shm/connect.h"

#include <algorithm>
#include <numeric>

namespace tandem::shm {

std::size_t descriptors_of_shm(std::size_t others) {
  constexpr std::size_t kForAMoment = 8;  // two segments, a connection that is tried, a connection to wait on
  return others + kForAMoment;
}

std::shared_ptr<const LocalConnections> connect_local_ranks(const Connecting& connecting, std::vector<int> numbers) {
  const ProcessGroupOptions& options = connecting.bootstrap.options();
  const auto deadline = Exchange::Clock::now() + options.timeout;
  LocalRanks local;
  local.group = options.name;
  local.group_size = connecting.bootstrap.size();
  const auto self = std::find(numbers.begin(), numbers.end(), connecting.bootstrap.rank());
  local.self = static_cast<int>(self - numbers.begin());
  local.numbers = std::move(numbers);
  std::vector<std::string> names;
  for (const int number : local.numbers) {
    names.push_back(connecting.ranks[number].local_listener);
    if (connecting.ranks[number].cores <= 1) local.lacks_cores = true;
  }
  const auto own = Segment::create(segment_bytes(names.size()));
  const auto peers = std::make_shared<const LocalConnections>(
      connect_local(local, names, connecting.listener, own, deadline, connecting.cancelled));
  own->close_descriptor();
  return peers;
}

c10::intrusive_ptr<ShmBackend> connect(const Connecting& connecting, const std::shared_ptr<GroupState>& state) {
  std::vector<int> numbers(connecting.ranks.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto peers = connect_local_ranks(connecting, std::move(numbers));
  return c10::make_intrusive<ShmBackend>(state, peers, connecting.bootstrap.options().timeout);
}

}  // namespace tandem::shm
