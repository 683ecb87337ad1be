// The mark at the start of every handle of the C ABI, which tells a handle of another type, and one that was freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "thread_state.h"

namespace tandem::capi {

// All marks are odd: a struct that begins with an address never looks like a handle.
enum class HandleState : std::uint32_t {
  kLive = 1,
  kKept = 3,   // tensors: live, and leaves its scope when that ends
  kFreed = 5,  // memory that waits for reuse
  kLeft = 7,   // tensors: freed by another thread than its scope's: empty, reused when the scope ends
};

// tdm_op, which is not counted.
inline constexpr int kOperatorHandle = kKindCount;

constexpr std::uint32_t handle_tag(int type, HandleState state) {
  return 0x54440000u | static_cast<std::uint32_t>(type) << 8 | static_cast<std::uint32_t>(state);
}
constexpr std::uint32_t handle_tag(Kind kind, HandleState state) {
  return handle_tag(static_cast<int>(kind), state);
}

// First member of a handle. Relaxed: it is there to find mistakes, not to order threads.
class HandleTag {
 public:
  explicit HandleTag(std::uint32_t tag) : tag_(tag) {}
  std::uint32_t get() const { return tag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> tag_;
};

// Throws Error: kInvalidArgument for NULL, a handle of another type or what is no handle; kClosed for one that was
// freed. `type` is what the argument takes, `what` names it: "argument 'module'".
[[noreturn]] void refuse_wrong_handle(const void* handle, int type, const std::string& what);

}  // namespace tandem::capi
