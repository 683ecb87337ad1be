// A thread's open scopes and the handles in them.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/handles/handles.h"
#include "thread_state.h"

// Scopes are slots that are reused and never freed: an id (slot, generation) of one that ended never comes back.
// Handles carry the generation's lower half (core/handles/handle_tag.h); inside the core a tdm_scope* is the slot's
// plain address. Only the owner's thread touches a scope's list.
struct tdm_scope {
  static constexpr std::uint32_t kTag =
      tandem::capi::handle_tag(tandem::Kind::kScope, tandem::capi::HandleState::kLive);

  const tandem::capi::HandleTag tag{kTag};
  std::atomic<tandem::ThreadState*> owner{nullptr};  // NULL while unused
  tdm_scope* outer = nullptr;                        // of the same thread
  bool ending = false;                               // its handles are being freed, which may call back
  tandem::capi::TensorSlot* first = nullptr;         // newest handle
  std::uint32_t slot = 0;
  std::atomic<std::uint32_t> generation{0};
  // The generation that another thread wants to have ended: the owner ends it at its next scope or with its life.
  std::atomic<std::uint32_t> exit_asked{0};
  tdm_scope* next_free = nullptr;

  // False for what is no scope at all.
  bool is_scope() const { return tag.get() == kTag; }
  std::uint64_t id() const { return std::uint64_t{generation.load(std::memory_order_relaxed)} << 32 | slot; }

  void add(tandem::capi::TensorSlot* handle) {
    handle->scope.store(this, std::memory_order_relaxed);
    handle->previous = nullptr;
    handle->next = first;
    if (first) first->previous = handle;
    first = handle;
  }
  void remove(tandem::capi::TensorSlot* handle) {
    (handle->previous ? handle->previous->next : first) = handle->next;
    if (handle->next) handle->next->previous = handle->previous;
    handle->scope.store(nullptr, std::memory_order_relaxed);
  }
};

namespace tandem::capi {

tdm_scope* enter_scope(ThreadState& state);
// Ends `scope`, which this thread has open, and those inside it.
void exit_scope(ThreadState& state, tdm_scope* scope);

// A live handle's slot, once it has been given `state`, in which no other thread frees or moves it; NULL for a handle
// that is not live, or that another thread is freeing.
TensorSlot* claim(const tdm_tensor* handle, HandleState state);
// Empties a claimed slot and puts it on this thread's free list. It must be in no scope.
void release_slot(ThreadState& state, TensorSlot* slot);
// Puts an empty slot on this thread's free list, for the next generation.
void recycle_slot(ThreadState& state, TensorSlot* slot);

}  // namespace tandem::capi
