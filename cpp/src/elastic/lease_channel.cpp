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
    : plan_(plan), membership_(checked_membership(membership)), calls_(timeout) {
  calls_.run("a connection of a loader's own to the store",
             [theirs = membership.store, prefix = "tandem/leases/" + membership.name](Store& store) {
               store = prefix_store(prefix, theirs->clone());
             });
}

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
      known_ = read(/*briefly=*/false);
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
  return LeaseQueue::parse(plan_, read(/*briefly=*/false));
}

LeaseQueue LeaseChannel::glance() {
  return LeaseQueue::parse(plan_, read(/*briefly=*/true));
}

// A get would wait for a key that is not there.
std::string LeaseChannel::read(bool briefly) {
  std::string stored = exchange(kNoQueue, kNoQueue, briefly);
  if (stored == kNoQueue) lost();
  return stored;
}

std::string LeaseChannel::exchange(const std::string& expected, const std::string& wanted, bool briefly) {
  const auto stored = std::make_shared<Bytes>();
  const auto body = [stored, expected = to_bytes(expected), wanted = to_bytes(wanted)](Store& store) {
    *stored = store->compareSet(kQueue, expected, wanted);
  };
  const std::string what = "a look at, or a change of, the queue of leases";
  briefly ? calls_.run_briefly(what, body) : calls_.run(what, body);
  return {stored->begin(), stored->end()};
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
  const auto sum = std::make_shared<std::int64_t>(0);
  calls_.run(what, [sum, beats, key = beat_key(rank)](Store& store) { *sum = store->add(key, beats); });
  return *sum;
}

}  // namespace tandem::elastic
