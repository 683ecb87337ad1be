// Ranks that come by a point, and some that wait until all have.
#pragma once

#include <string>

#include "comm/store/waitable_store.h"

namespace tandem {

// Two keys of a store: NAME, the number of those that have come, and NAME_all, which the last of them sets. That one asks
// nothing after it, so that the store may go as soon as somebody has seen the key.
class HeadCount {
 public:
  explicit HeadCount(std::string name) : name_(std::move(name)), all_(name_ + "_all") {}

  // One more has come, of `expected`. Errors: the store's.
  void come(const WaitableStore& store, int expected) const;
  // False when the deadline, which is soon, comes before the last of them: LibTorch's client would warn of that. Errors:
  // kAborted soon after a StoreLimit of this thread is interrupted; else the store's.
  bool await_all(const WaitableStore& store, WaitableStore::Clock::time_point deadline) const;
  void forget(const WaitableStore& store) const;

 private:
  const std::string name_;
  const std::string all_;
};

}  // namespace tandem
