#include "elastic/lease_channel.h"

#include <algorithm>
#include <thread>

#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr char kQueue[] = "queue";
constexpr char kNoQueue[] = "?";  // which is none

Bytes to_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

// The membership with a connection of its own.
LeaseMembership connected(LeaseMembership membership) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::kInvalidArgument, message); };
  if (!membership.store) invalid("ranks need a store to share a queue of leases");
  if (membership.name.empty()) invalid("a loader needs a name among those that share a store");
  if (membership.generation < 1 || membership.world_size < 1) {
    invalid("generation and world_size of a membership must be at least 1");
  }
  if (membership.rank < 0 || membership.rank >= membership.world_size) {
    invalid("rank " + std::to_string(membership.rank) + " is not within a world of " +
            std::to_string(membership.world_size));
  }
  try {
    membership.store = prefix_store("tandem/leases/" + membership.name, membership.store->clone());
  } catch (...) {
    rethrow_store_error("a connection of a loader's own to the store");
  }
  return membership;
}

}  // namespace

LeaseChannel::LeaseChannel(const LeasePlan& plan, const LeaseMembership& membership)
    : plan_(plan), membership_(connected(membership)) {}

LeaseQueue LeaseChannel::update(const std::function<void(LeaseQueue&)>& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int attempt = 0;; ++attempt) {
    // Whoever is always late lets the others be done.
    if (attempt > 1) std::this_thread::sleep_for(std::chrono::microseconds(100) * std::min(attempt, 50));
    LeaseQueue queue = known_.empty() ? LeaseQueue(plan_) : LeaseQueue::parse(plan_, known_);
    change(queue);
    const std::string wanted = queue.bytes();
    if (wanted == known_) {  // as far as it was known
      const std::string before = known_;
      read();
      if (known_ == before) return queue;
      continue;
    }
    std::string now = exchange(known_, wanted);
    if (now == wanted) {
      known_ = std::move(now);
      return queue;
    }
    if (now == known_) lost();  // so stores answer for a key that is not there
    known_ = std::move(now);
  }
}

LeaseQueue LeaseChannel::look() {
  const std::lock_guard<std::mutex> lock(mutex_);
  read();
  return LeaseQueue::parse(plan_, known_);
}

// A get would wait for a key that is not there.
void LeaseChannel::read() {
  known_ = exchange(kNoQueue, kNoQueue);
  if (known_ == kNoQueue) lost();
}

std::string LeaseChannel::exchange(const std::string& expected, const std::string& wanted) {
  try {
    const Bytes stored = membership_.store->compareSet(kQueue, to_bytes(expected), to_bytes(wanted));
    return {stored.begin(), stored.end()};
  } catch (...) {
    rethrow_store_error("a look at, or a change of, the queue of leases");
  }
}

void LeaseChannel::lost() const {
  throw Error(ErrorCode::kDataLoss, "the store has lost the queue of leases of '" + membership_.name +
                                        "'; was it deleted, or the store started again?");
}

std::string LeaseChannel::beat_key(std::int32_t rank) const {
  return "alive/" + std::to_string(membership_.generation) + "/" + std::to_string(rank);
}

void LeaseChannel::beat() {
  try {
    membership_.store->add(beat_key(membership_.rank), 1);
  } catch (...) {
    rethrow_store_error("a sign of life");
  }
}

std::int64_t LeaseChannel::beats(std::int32_t rank) {
  try {
    return membership_.store->add(beat_key(rank), 0);
  } catch (...) {
    rethrow_store_error("a look at rank " + std::to_string(rank) + "'s sign of life");
  }
}

}  // namespace tandem::elastic
