#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <mutex>

#include "memory/tensor_blocks.h"
#include "tandem/resident.h"

namespace tandem {
namespace {

constinit std::atomic<LargeTensors*> large_tensors = nullptr;

}  // namespace

void cache_tensors() {
#if !defined(__SANITIZE_ADDRESS__)  // which is to see each tensor's bounds and end
  static std::once_flag once;
  std::call_once(once, [] {
    large_tensors = new LargeTensors;
    c10::SetCPUAllocator(small_tensors(*large_tensors, *c10::GetCPUAllocator()), 1);
  });
#endif
}

void empty_tensor_cache() {
  if (LargeTensors* tensors = large_tensors) tensors->empty();
}

}  // namespace tandem
