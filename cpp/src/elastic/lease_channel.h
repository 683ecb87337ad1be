// The lease queue of a run, shared through a store: each call reads the queue, changes it and stores it, unless another
// rank did so first; then it tries again.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "elastic/store_calls.h"
#include "tandem/dynamic_loader.h"
#include "tandem/lease_queue.h"

namespace tandem::elastic {

// Thread-safe. Has a connection of its own to the store: another thread's long wait holds nobody up here.
class LeaseChannel {
 public:
  // `timeout`: of each answer of the store. Throws Error(kInvalidArgument) for a membership that cannot be, and the
  // errors of stores and StoreCalls, here and below.
  LeaseChannel(const LeasePlan& plan, const LeaseMembership& membership, std::chrono::milliseconds timeout);

  // Makes `change`, perhaps several times, each time on the queue as it is then; gives the queue as it is after.
  // Throws what `change` throws.
  LeaseQueue update(const std::function<void(LeaseQueue&)>& change);
  LeaseQueue look();
  // For messages: waits for a second at most.
  LeaseQueue glance();

  // Says that this rank lives.
  void beat();
  // How often `rank` has said so.
  std::int64_t beats(std::int32_t rank);

  // As StoreCalls has it.
  void interrupt() { calls_.interrupt(); }

  std::int64_t generation() const { return membership_.generation; }
  std::int32_t rank() const { return membership_.rank; }
  std::int32_t world_size() const { return membership_.world_size; }

 private:
  std::string read(bool briefly);
  // What is stored then; `expected` where nothing is, unless that is empty.
  std::string exchange(const std::string& expected, const std::string& wanted, bool briefly = false);
  std::int64_t add(std::int32_t rank, std::int64_t beats, const std::string& what);
  [[noreturn]] void lost() const;
  std::string beat_key(std::int32_t rank) const;

  const LeasePlan plan_;
  const LeaseMembership membership_;  // without the store
  StoreCalls calls_;
  std::mutex mutex_;   // of changes
  std::string known_;  // the queue's bytes as they were seen last; "" when there is none yet
};

}  // namespace tandem::elastic
