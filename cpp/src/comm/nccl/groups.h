// The NCCL groups of this process, and how they end.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/backend_control.h"
#include "comm/group_state.h"
#include "tandem/runtime.h"

namespace tandem {

// When one fails, all are aborted at once: kernels of a group that waits for a lost rank hold up those of others on the
// same GPU, and an abort of one group after the other may wait for them for ever. In peace a group is shut down, which
// lets its kernels end. Thread-safe.
class NcclGroups {
 public:
  static NcclGroups& instance();

  // A new group, of which this is the control.
  std::shared_ptr<BackendControl> add(const std::shared_ptr<GroupState>& state,
                                      const c10::intrusive_ptr<c10d::Backend>& backend);
  // Of a group in which nothing is in flight. NCCL may wait for the ranks of this host meanwhile, which close when they
  // like: after a moment that goes on beside the program, until it ends.
  void shut_down(const c10::intrusive_ptr<c10d::Backend>& backend);

 private:
  class Control;
  struct Entry {
    std::weak_ptr<GroupState> state;
    std::weak_ptr<Control> control;
  };

  NcclGroups();
  void fail_all(const Error& reason);
  // Calls `end` on a thread of its own, which lets the backend go.
  std::shared_future<void> run(c10::intrusive_ptr<c10d::Backend> backend, void (*end)(c10d::Backend&));
  void await_all();

  std::mutex mutex_;
  std::vector<Entry> entries_;  // that have not ended
  std::vector<std::shared_future<void>> running_;
  const ShutdownHook hook_;
};

}  // namespace tandem
