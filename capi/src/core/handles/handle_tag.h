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
  kKept = 3,     // tensors: live, and leaves its scope when that ends
  kFreed = 5,    // memory that waits for reuse
  kLeft = 7,     // tensors: freed by another thread than its scope's: empty, reused when the scope ends
  kLeaving = 9,  // tensors: a thread is freeing it
  kMoving = 11,  // tensors: live; a thread is taking it from one scope to another
};

// tdm_op, which is not counted.
inline constexpr int kOperatorHandle = kKindCount;

constexpr std::uint32_t handle_tag(int type, HandleState state) {
  return 0x54440000u | static_cast<std::uint32_t>(type) << 8 | static_cast<std::uint32_t>(state);
}
constexpr std::uint32_t handle_tag(Kind kind, HandleState state) {
  return handle_tag(static_cast<int>(kind), state);
}

// Handles of tensors and scopes, whose memory is used again at once, say which use of it they are for: pointers have
// the use's number, its generation, in the 16 bits that no address has. One of an earlier use is refused, unless as
// many uses lie between as there are generations. All other handles have zeros there.
static_assert(sizeof(void*) == 8, "handles keep a generation beside a 48-bit address");
inline constexpr int kGenerationShift = 48;

inline std::uint16_t generation_of(const void* handle) {
  return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(handle) >> kGenerationShift);
}
template <typename T>
T* address_of(T* handle) {
  constexpr std::uintptr_t kAddress = (std::uintptr_t{1} << kGenerationShift) - 1;
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(handle) & kAddress);
}
template <typename Handle>
Handle* with_generation(void* address, std::uint16_t generation) {
  return reinterpret_cast<Handle*>(reinterpret_cast<std::uintptr_t>(address) | std::uintptr_t{generation}
                                                                                   << kGenerationShift);
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
