// How ranks tell each other what they need to connect: an all-gather of bytes through a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/store/waitable_store.h"
#include "tandem/error.h"

namespace tandem {

// Rank 0 gathers what all ranks set and answers with all of it, in order of rank. For n ranks that takes some 7 n calls
// on the store for each all_gather() and none that asks again and again: each rank waits for one answer. Works before
// there are connections, and with any store; names exactly who is missing; can be aborted. It takes a millisecond or
// so.
//
// One thread at a time. All ranks call all_gather() equally often. In the keys of `store`, which are for this alone,
// each round has its own; they are deleted in the next round but one, and at finish().
class TANDEM_API Bootstrap {
 public:
  using Clock = std::chrono::steady_clock;

  // `serves_store`: the store goes with this process.
  Bootstrap(WaitableStore store, int rank, int size, bool serves_store = false)
      : store_(std::move(store)), rank_(rank), size_(size), serves_store_(serves_store) {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  struct Call {
    std::string purpose;  // for errors of the store: "meeting the other ranks"
    std::chrono::milliseconds timeout;
    // What a timeout says, given who is to blame: "ranks 1, 3 are missing", "rank 0 gives no answer".
    std::function<std::string(const std::string& who)> describe_timeout;
    // Called by rank 0 with what each rank gave, as it comes, in order of rank; when it throws an Error that becomes
    // every rank's.
    std::function<void(int rank, const std::string& bytes)> check;
  };

  // The bytes of all ranks. Errors: kTimeout, as `call` describes it, on every rank that came and on those that come
  // later; that of Call::check or of a rank that refused, on every rank; kAborted soon after a StoreLimit of this
  // thread is interrupted; kTimeout and kPeerLost of a store that does not answer or is gone.
  std::vector<std::string> all_gather(const std::string& bytes, const Call& call);

  // What the last all_gather() would have given, had it not been ended by a StoreLimit. Nothing: not all had come, or
  // the store does not answer.
  std::optional<std::vector<std::string>> last_answer() noexcept;

  // Of the last all_gather(), as far as it is known now: "ranks 1, 3 are missing". "" where all have come, or the store
  // does not answer.
  std::string who_is_missing() noexcept;
  // Their ranks.
  std::vector<int> missing() noexcept;

  // Instead of the next all_gather(), for this rank cannot go on: the others' throws `reason`. Does nothing after an
  // all_gather() that failed, for then they know, unless a StoreLimit of this thread ended it: then they wait in that
  // one, or have all they need and are in the next. Throws nothing.
  void refuse(const Error& reason) noexcept;

  // After the last all_gather(): deletes what it left in the store. Throws nothing.
  void finish() noexcept;

 private:
  class Round;

  const WaitableStore store_;
  const int rank_;
  const int size_;
  const bool serves_store_;
  std::uint64_t round_ = 0;
  bool failed_ = false;       // the last all_gather()
  bool interrupted_ = false;  // by a StoreLimit, which the others do not know
};

}  // namespace tandem
