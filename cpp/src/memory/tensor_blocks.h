// The allocator of CPU memory that cache_tensors() gives LibTorch.
#pragma once

#include <c10/core/Allocator.h>

#include "memory/large_tensors.h"

namespace tandem {

// Serves up to 1 KiB, and `larger` the rest. Its deleter gives memory that neither made to `before`, the allocator that
// LibTorch had until now. All live as long as the process.
c10::Allocator* small_tensors(LargeTensors& larger, c10::Allocator& before);

}  // namespace tandem
