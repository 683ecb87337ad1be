#include "elastic/lease_channel.h"

#include <algorithm>
#include <thread>

#include "tandem/error.h"

namespace tandem::elastic {
namespace {

constexpr char kQueue[] = "queue";
constexpr char kNoQueue[] = "?";  // which is none

// The membership without its store, of which calls have a connection of their own.
LeaseMembership checked_membership(LeaseMembership membership) {
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
  membership.store.reset();
  return membership;
}

}  // namespace

LeaseChannel::LeaseChannel(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds timeout)
    : plan_(plan), membership_(checked_membership(membership)), timeout_(timeout) {
  const StoreLimit limit(end_of_call(), calls_);
  try {
    store_ = prefix_store("tandem/leases/" + membership_.name, membership.store->clone());
  } catch (...) {
    rethrow_store_error("a connection of a loader's own to the store");
  }
}

LeaseQueue LeaseChannel::update(const std::function<void(LeaseQueue&)>& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (unknown_) throw Error(*unknown_);
  for (int attempt = 0;; ++attempt) {
    // Whoever is always late lets the others be done.
    if (attempt > 1) std::this_thread::sleep_for(std::chrono::microseconds(100) * std::min(attempt, 50));
    LeaseQueue queue = known_.empty() ? LeaseQueue(plan_) : LeaseQueue::parse(plan_, known_);
    change(queue);
    const std::string wanted = queue.bytes();
    if (wanted == known_) {  // as far as it was known
      const std::string before = known_;
      known_ = read(end_of_call());
      if (known_ == before) return queue;
      continue;
    }
    std::string now;
    try {
      now = exchange(known_, wanted, end_of_call());
    } catch (const Error& error) {
      unknown_ = error;
      throw;
    }
    if (now == wanted) {
      known_ = std::move(now);
      return queue;
    }
    if (now == known_) lost();  // so stores answer for a key that is not there
    known_ = std::move(now);
  }
}

LeaseQueue LeaseChannel::read() {
  return LeaseQueue::parse(plan_, read(end_of_call()));
}

LeaseQueue LeaseChannel::read_for_message() {
  return LeaseQueue::parse(plan_, read(Clock::now()));
}

// A get would wait for a key that is not there.
std::string LeaseChannel::read(Clock::time_point deadline) {
  std::string stored = exchange(kNoQueue, kNoQueue, deadline);
  if (stored == kNoQueue) lost();
  return stored;
}

std::string LeaseChannel::exchange(const std::string& expected, const std::string& wanted,
                                   Clock::time_point deadline) {
  const StoreLimit limit(deadline, calls_);
  try {
    return store_->compareSet(kQueue, expected, wanted);
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
  add(membership_.rank, 1, "a sign of life");
}

std::int64_t LeaseChannel::beats(std::int32_t rank) {
  return add(rank, 0, "a look at rank " + std::to_string(rank) + "'s sign of life");
}

std::int64_t LeaseChannel::add(std::int32_t rank, std::int64_t beats, const std::string& what) {
  const StoreLimit limit(end_of_call(), calls_);
  try {
    return store_->add(beat_key(rank), beats);
  } catch (...) {
    rethrow_store_error(what);
  }
}

}  // namespace tandem::elastic
