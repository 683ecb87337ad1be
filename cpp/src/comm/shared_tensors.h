// Tensors that the other ranks of a host reach.
#pragma once

#include <c10/core/Allocator.h>

#include <memory>
#include <optional>

#include "memory/routed_allocations.h"
#include "tandem/export.h"
#include "tandem/process_group.h"

namespace tandem {

// While it lives, CPU tensors of 64 KiB and more that this thread makes lie in memory that all ranks of the group map,
// where its backend for CPU tensors is shm: all-reduces of such tensors read and write the others' in place. Does
// nothing with other backends, and when the group's memory for that is full. Tensors may outlive the group.
class TANDEM_API SharedTensors {
 public:
  explicit SharedTensors(const ProcessGroup& group);
  ~SharedTensors();

 private:
  std::unique_ptr<c10::Allocator> allocator_;
  std::optional<RoutedAllocations> routed_;
};

}  // namespace tandem
