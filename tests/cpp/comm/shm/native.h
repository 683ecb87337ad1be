// Ranks of the shm backend as threads, which call LibTorch's own interface.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "cpp/comm/threads.h"

// The newest LibTorch deprecates some of c10d's names for others that the pinned one does not have.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tandem::testing::shm_native {

using Tensors = std::vector<at::Tensor>;

// It has more than Tandem's.
inline void run_native(int size, const std::function<void(c10d::ProcessGroup&)>& body) {
  run_groups(
      size, [&](ProcessGroup& group) { body(*group.native()); }, "shm");
}

// c10d::ProcessGroup::barrier() itself keeps a tensor in a static variable: ranks that are threads overwrite it for
// each other, which breaks the heap.
inline void barrier(c10d::ProcessGroup& group) {
  group.getBackend(c10::kCPU)->barrier()->wait();
}

}  // namespace tandem::testing::shm_native
