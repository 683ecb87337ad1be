// The two allocators of CPU memory that cache_tensors() gives LibTorch.
#pragma once

#include <c10/core/Allocator.h>

namespace tandem {

// Serves up to 1 KiB, and `larger` the rest. NULL where there are no addresses for it. Lives as long as the process.
c10::Allocator* small_tensors(c10::Allocator* larger);
// Serves any size. Lives as long as the process.
c10::Allocator* large_tensors();

}  // namespace tandem
