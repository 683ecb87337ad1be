// A thread's open scopes and the handles in them.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/handles.h"
#include "thread_state.h"

// Scopes are slots that are reused and never freed: an id (slot, generation) of one that ended never comes back, and a
// pointer to one that ended is refused. Only the owner's thread touches a scope, but for `exit_asked`.
struct tdm_scope {
  static constexpr std::uint32_t kTag =
      tandem::capi::handle_tag(tandem::Kind::kScope, tandem::capi::HandleState::kLive);

  const tandem::capi::HandleTag tag{kTag};
  tandem::ThreadState* owner = nullptr;  // NULL while unused
  tdm_scope* outer = nullptr;            // of the same thread
  tdm_tensor* first = nullptr;           // newest handle
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::atomic<bool> exit_asked{false};  // by another thread: the owner ends it at its next scope or with its life
  tdm_scope* next_free = nullptr;

  // False for what is no scope at all.
  bool is_scope() const { return tag.get() == kTag; }
  std::uint64_t id() const { return std::uint64_t{generation} << 32 | slot; }

  void add(tdm_tensor* handle) {
    handle->scope = this;
    handle->previous = nullptr;
    handle->next = first;
    if (first) first->previous = handle;
    first = handle;
  }
  void remove(tdm_tensor* handle) {
    (handle->previous ? handle->previous->next : first) = handle->next;
    if (handle->next) handle->next->previous = handle->previous;
    handle->scope = nullptr;
  }
};

namespace tandem::capi {

tdm_scope* enter_scope(ThreadState& state);
// Ends `scope` and those inside it.
void exit_scope(ThreadState& state, tdm_scope* scope);

// Empties a live handle and puts it on this thread's free list. It must be in no scope.
void release_handle(ThreadState& state, tdm_tensor* handle);
// Puts an empty handle on this thread's free list.
void recycle_handle(ThreadState& state, tdm_tensor* handle);

}  // namespace tandem::capi
