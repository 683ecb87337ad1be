#include "memory/routed_allocations.h"

#include <c10/core/CPUAllocator.h>

#include <mutex>

namespace tandem {
namespace {

thread_local const RoutedAllocations* current = nullptr;

class Router final : public c10::Allocator {
 public:
  explicit Router(c10::Allocator* usual) : usual_(usual) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    if (const RoutedAllocations* routed = RoutedAllocations::innermost()) {
      if (c10::DataPtr memory = routed->allocate(bytes)) return memory;
    }
    return usual_->allocate(bytes);
  }

  // Of the raw interface, which nothing uses within a route.
  c10::DeleterFnPtr raw_deleter() const override { return usual_->raw_deleter(); }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  c10::Allocator* const usual_;
};

}  // namespace

RoutedAllocations::RoutedAllocations(c10::Allocator& to, std::size_t from_bytes)
    : to_(to), from_bytes_(from_bytes), before_(current) {
  static std::once_flag once;
  std::call_once(once, [] { c10::SetCPUAllocator(new Router(c10::GetCPUAllocator()), 1); });
  current = this;
}

RoutedAllocations::~RoutedAllocations() {
  current = before_;
}

c10::DataPtr RoutedAllocations::allocate(std::size_t bytes) const {
  return bytes < from_bytes_ ? c10::DataPtr() : to_.allocate(bytes);
}

const RoutedAllocations* RoutedAllocations::innermost() {
  return current;
}

}  // namespace tandem
