#include "comm/shm/connect.h"

#include <map>

namespace tandem::shm {

c10::intrusive_ptr<ShmBackend> connect(const ProcessGroupOptions& options, const Meeting& meeting, Member self,
                                       const std::shared_ptr<GroupState>& state, Store* store,
                                       const std::atomic<bool>& cancelled, Roster* roster) {
  const auto deadline = Exchange::Clock::now() + options.timeout;
  const Door door(meeting.world_size);
  self.door = door.name();
  *roster = assemble(meeting, options.name, self, options.timeout, cancelled);
  if (!roster->one_host) return {};
  *store = prefix_store("shm", roster->store);
  std::vector<std::string> names;
  for (const Member& member : roster->members) names.push_back(member.door);
  const auto own = Segment::create(segment_bytes(names.size()));
  const auto peers = std::make_shared<const Peers>(
      connect_peers(meeting.rank, names, door, own, options.name, deadline, cancelled));
  own->close_descriptor();
  return c10::make_intrusive<ShmBackend>(state, peers, options.timeout);
}

std::string hosts_of(const Roster& roster) {
  std::map<std::string, std::vector<int>> ranks;  // by host identity
  for (std::size_t rank = 0; rank < roster.members.size(); ++rank) {
    ranks[roster.members[rank].host_identity].push_back(static_cast<int>(rank));
  }
  std::map<int, std::string> lines;  // by first rank
  for (const auto& [identity, list] : ranks) {
    std::string line = list.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < list.size(); ++i) line += (i ? ", " : "") + std::to_string(list[i]);
    lines[list.front()] = line + " on " + roster.members[list.front()].host_name;
  }
  std::string text;
  for (const auto& [first, line] : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

}  // namespace tandem::shm
