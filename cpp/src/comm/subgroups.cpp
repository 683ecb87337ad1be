// Groups of some of a group's ranks, and whose rank is which.
#include <algorithm>
#include <set>

#include "comm/process_group_parts.h"
#include "comm/store/store_limit.h"
#include "comm/tensors.h"

namespace tandem {

int ProcessGroup::global_rank(int rank) const {
  return rank >= 0 && rank < size() ? parts_->global_ranks[rank] : -1;
}

int ProcessGroup::rank_of(int global_rank) const {
  const auto& ranks = parts_->global_ranks;
  const auto found = std::find(ranks.begin(), ranks.end(), global_rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

const std::vector<int>& ProcessGroup::global_ranks() const {
  return parts_->global_ranks;
}

std::shared_ptr<ProcessGroup> ProcessGroup::new_group(const std::vector<int>& ranks, const std::string& name) {
  return split({ranks}, name);
}

std::shared_ptr<ProcessGroup> ProcessGroup::split(const std::vector<std::vector<int>>& groups,
                                                  const std::string& name) {
  parts_->main().state->check_usable("split");
  std::set<int> seen;
  std::size_t mine = groups.size();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].empty()) refuse("split", "group " + std::to_string(i) + " has no ranks");
    for (const int one : groups[i]) {
      check_rank_of(one, "member", "split");
      if (!seen.insert(one).second) refuse("split", "rank " + std::to_string(one) + " is named twice");
      if (one == rank()) mine = i;
    }
  }
  // Ranks count alike, also those that get no group.
  const std::uint64_t number = parts_->subgroups++;
  if (mine == groups.size()) return nullptr;
  const std::vector<int>& members = groups[mine];
  ProcessGroupOptions options = parts_->options;
  options.name = (name.empty() ? parts_->options.name + "/" + std::to_string(number) : name) +
                 (groups.size() > 1 ? "." + std::to_string(mine) : "");
  Rendezvous rendezvous = parts_->rendezvous;
  // Names may come again, and groups of the same name may have other members.
  rendezvous.store = parts_->main().store.under("subgroup/" + std::to_string(number) + "." + std::to_string(mine));
  rendezvous.is_for_one_group = true;
  rendezvous.rank = static_cast<int>(std::find(members.begin(), members.end(), rank()) - members.begin());
  rendezvous.world_size = static_cast<int>(members.size());
  rendezvous.serves_store = false;  // rank 0 of a sub-group may be anyone
  std::vector<int> global_ranks;
  for (const int member : members) global_ranks.push_back(parts_->global_ranks[member]);
  const StoreLimit of_this(parts_->main().state->store_calls());  // whose end ends the wait for the other members
  auto made = GroupMaker::make(options, rendezvous, std::move(global_ranks));
  if (options.abort_subgroups) abort_with_this(made);
  return made;
}

std::shared_ptr<ProcessGroup> ProcessGroup::new_subgroups(int size, const std::string& name) {
  if (size < 1 || this->size() % size != 0) {
    refuse("new_subgroups", "a group of " + std::to_string(this->size()) + " ranks does not divide into groups of " +
                                std::to_string(size));
  }
  std::vector<std::vector<int>> groups(this->size() / size);
  for (int rank = 0; rank < this->size(); ++rank) groups[rank / size].push_back(rank);
  return split(groups, name);
}

}  // namespace tandem
