// TORCH_DISTRIBUTED_DEBUG=DETAIL: before each collective ranks tell each other what they are about to call.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "comm/bootstrap/bootstrap.h"
#include "comm/group_state.h"

namespace tandem {

// Thread-safe. LibTorch's ProcessGroupWrapper does the same with a Gloo group of its own, whose waits cannot be
// aborted; this one works with any backend and any abort.
class CollectiveCheck {
 public:
  // Whether the environment asks for it.
  static bool is_wanted();

  CollectiveCheck(std::shared_ptr<GroupState> state, WaitableStore store, std::chrono::milliseconds timeout);

  // Waits until all ranks call the same: `call` is what they must agree on. Errors: kInvalidArgument naming what each
  // calls, on every rank; kTimeout naming the ranks that are missing.
  void check(const Collective& collective, const std::string& call);

 private:
  const std::shared_ptr<GroupState> state_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  Bootstrap bootstrap_;
};

}  // namespace tandem
