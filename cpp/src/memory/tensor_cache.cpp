#include <c10/core/CPUAllocator.h>

#include <mutex>

#include "memory/tensor_blocks.h"
#include "tandem/resident.h"

namespace tandem {

void cache_tensors() {
#if !defined(__SANITIZE_ADDRESS__)  // which is to see each tensor's bounds and end
  static std::once_flag once;
  std::call_once(once, [] {
    c10::Allocator* large = large_tensors();
    c10::Allocator* small = small_tensors(large);
    c10::SetCPUAllocator(small ? small : large, 1);
  });
#endif
}

}  // namespace tandem
