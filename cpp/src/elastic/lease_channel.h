// The lease queue of a run, shared through a store: each call reads the queue, changes it and stores it, unless another
// rank did so first; then it tries again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "comm/store/store_limit.h"
#include "tandem/dynamic_loader.h"
#include "tandem/error.h"
#include "tandem/lease_queue.h"
#include "tandem/store.h"

namespace tandem::elastic {

// Thread-safe. Has a connection of its own to the store: another thread's long wait holds nobody up here.
class LeaseChannel {
 public:
  // `timeout`: of each answer of the store, which has a few seconds at least. Throws Error(kInvalidArgument) for a
  // membership that cannot be, and the errors of stores, here and below. A change of which nobody knows whether it was
  // made is the last one: later changes throw its error.
  LeaseChannel(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds timeout);

  // Makes `change`, perhaps several times, each time on the queue as it is then; gives the queue as it is after.
  // Throws what `change` throws.
  LeaseQueue update(const std::function<void(LeaseQueue&)>& change);
  LeaseQueue read();
  // For messages of errors: gives up after a few seconds.
  LeaseQueue read_for_message();

  // Counts a heartbeat of this rank.
  void beat();
  // How many heartbeats `rank` has sent.
  std::int64_t beats(std::int32_t rank);

  // Calls, also later ones, end within a second, with Error(kAborted) where the store does not answer. From any thread.
  void interrupt() { calls_->interrupt(); }

  std::int64_t generation() const { return membership_.generation; }
  std::int32_t rank() const { return membership_.rank; }
  std::int32_t world_size() const { return membership_.world_size; }

 private:
  using Clock = StoreLimit::Clock;

  std::string read(Clock::time_point deadline);
  // What is stored then; `expected` where nothing is, unless that is empty.
  std::string exchange(const std::string& expected, const std::string& wanted, Clock::time_point deadline);
  Clock::time_point end_of_call() const { return Clock::now() + timeout_; }
  std::int64_t add(std::int32_t rank, std::int64_t beats, const std::string& what);
  [[noreturn]] void lost() const;
  std::string beat_key(std::int32_t rank) const;

  const LeasePlan plan_;
  const LeaseMembership membership_;  // without the store
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<StoreInterrupt> calls_ = std::make_shared<StoreInterrupt>();
  Store store_;                   // of this object alone
  std::mutex mutex_;              // of changes
  std::optional<Error> unknown_;  // of a change that may have been made
  std::string known_;             // the queue's bytes as they were seen last; "" when there is none yet
};

}  // namespace tandem::elastic
