#include "memory/routed_allocations.h"

#include <c10/core/CPUAllocator.h>

#include <mutex>

#include "memory/fork_locks.h"

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

// Whoever gives LibTorch an allocator later, as cache_tensors() may, gets another router before it. Those that stand
// before it already are still asked for what they made.
void put_router_first() {
  static constinit std::mutex mutex;
  static std::once_flag once;
  std::call_once(once, [] { hold_in_fork(ForkLock::routes, mutex); });
  const std::lock_guard<std::mutex> lock(mutex);
  static constinit c10::Allocator* router = nullptr;
  static constinit c10::Allocator* refused_by = nullptr;
  c10::Allocator* first = c10::GetCPUAllocator();
  if (first == router || first == refused_by) return;
  auto* made = new Router(first);
  c10::SetCPUAllocator(made, 1);
  if (c10::GetCPUAllocator() == made) {
    router = made;
  } else {  // one of a higher priority
    delete made;
    refused_by = first;
  }
}

}  // namespace

RoutedAllocations::RoutedAllocations(c10::Allocator& to, std::size_t from_bytes)
    : to_(to), from_bytes_(from_bytes), before_(current) {
  put_router_first();
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
