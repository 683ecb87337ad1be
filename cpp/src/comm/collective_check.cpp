#include "comm/collective_check.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "comm/environment.h"
#include "comm/store/store_exchange.h"

namespace tandem {

bool CollectiveCheck::is_wanted() {
  std::string level = environment_variable("TORCH_DISTRIBUTED_DEBUG").value_or("");
  std::transform(level.begin(), level.end(), level.begin(), [](unsigned char c) { return std::toupper(c); });
  return level == "DETAIL";
}

CollectiveCheck::CollectiveCheck(std::shared_ptr<GroupState> state, WaitableStore store,
                                 std::chrono::milliseconds timeout)
    : state_(std::move(state)), timeout_(timeout), bootstrap_(std::move(store), state_->rank(), state_->size()) {}

void CollectiveCheck::check(const Collective& collective, const std::string& call) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string mine = "#" + std::to_string(collective.sequence) + " " + call;
  const auto calls = exchange_through_store(bootstrap_, mine, timeout_, state_->store_calls(),
                                            state_->watch_peers(collective.name));
  if (std::all_of(calls.begin(), calls.end(), [&](const auto& other) { return other == mine; })) return;
  std::map<std::string, std::string> ranks_by_call;
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    std::string& ranks = ranks_by_call[calls[rank]];
    ranks += (ranks.empty() ? "rank " : ", ") + std::to_string(rank);
  }
  std::string text = state_->describe(collective) + ", is not what all ranks call:";
  for (const auto& [what, ranks] : ranks_by_call) text += " " + ranks + " calls " + what + ";";
  throw Error(ErrorCode::kInvalidArgument,
              text + " all ranks must call the same collectives in the same order, with the same shapes and dtypes");
}

}  // namespace tandem
