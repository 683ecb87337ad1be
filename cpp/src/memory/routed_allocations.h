// Has LibTorch make tensors in memory of another kind.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>

namespace tandem {

// While it lives, this thread's CPU tensors of at least `from_bytes` get their memory from `to`, as long as that has
// some. Instances of one thread nest. `to` must live as long, and its memory as long as the tensors.
class RoutedAllocations {
 public:
  RoutedAllocations(c10::Allocator& to, std::size_t from_bytes);
  ~RoutedAllocations();
  RoutedAllocations(const RoutedAllocations&) = delete;
  RoutedAllocations& operator=(const RoutedAllocations&) = delete;

  c10::DataPtr allocate(std::size_t bytes) const;
  static const RoutedAllocations* innermost();

 private:
  c10::Allocator& to_;
  const std::size_t from_bytes_;
  const RoutedAllocations* const before_;
};

}  // namespace tandem
