// Base of every handle struct but tensors': struct tdm_store : Handle<Kind::kStore> { … };
//
// A handle is counted for tdm_live_count() and begins with a tag. Its memory is never given back to the system, and a
// block is reused only after others of its size that were freed before it: a handle that was freed is refused by its
// tag for a while, as is one of another type. AddressSanitizer catches who goes on with what it took from one.
#pragma once

#include <concepts>
#include <cstddef>

#include "core/handles/handle_tag.h"
#include "core/handles/live_count.h"

namespace tandem::capi {

void* take_handle_memory(std::size_t bytes);
void give_handle_memory(void* memory, std::size_t bytes, std::uint32_t tag) noexcept;

template <Kind kKind>
class Handle : LiveCount<kKind> {
 public:
  static constexpr int kHandleType = static_cast<int>(kKind);

  bool is_live() const { return tag_.get() == handle_tag(kKind, HandleState::kLive); }

  static void* operator new(std::size_t bytes) { return take_handle_memory(bytes); }
  static void operator delete(void* memory, std::size_t bytes) {
    give_handle_memory(memory, bytes, handle_tag(kKind, HandleState::kFreed));
  }

 private:
  HandleTag tag_{handle_tag(kKind, HandleState::kLive)};
};

template <typename T>
concept IsHandle = requires(const T& handle) {
                     { T::kHandleType } -> std::convertible_to<int>;
                     { handle.is_live() } -> std::same_as<bool>;
                   };

// The handle, or NULL for what is none of this type or was freed. For functions that cannot fail.
template <IsHandle T>
T* if_live(T* handle) {
  return handle && generation_of(handle) == 0 && handle->is_live() ? handle : nullptr;
}

}  // namespace tandem::capi
