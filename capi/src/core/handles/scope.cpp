#include "core/handles/scope.h"

#include <sched.h>

#include <mutex>
#include <utility>

#include "memory/fork_locks.h"

namespace tandem::capi {
namespace {

struct Slots {
  std::mutex mutex;
  std::uint32_t made = 0;
  tdm_scope* free = nullptr;
};

Slots& slots() {
  static auto* instance = [] {
    auto* made = new Slots;
    hold_in_fork(ForkLock::scope_slots, made->mutex);
    return made;
  }();
  return *instance;
}

// Made when the library is loaded: a fork beside the first use would leave the child in the middle of it.
[[maybe_unused]] const Slots& slots_at_load = slots();

// What is in the scope that ends now.
void end_handle(ThreadState& state, tdm_scope* scope, TensorSlot* slot) {
  const std::uint16_t generation = slot->generation();
  for (;;) {
    if (slot->change(HandleState::kLive, HandleState::kLeaving, generation)) [[likely]] {
      scope->remove(slot);
      release_slot(state, slot);
      return;
    }
    if (slot->word.load(std::memory_order_acquire) == TensorSlot::word_of(HandleState::kLeft, generation)) {
      scope->remove(slot);
      recycle_slot(state, slot);
      return;
    }
    if (slot->change(HandleState::kKept, HandleState::kMoving, generation)) {
      scope->remove(slot);
      if (scope->outer) scope->outer->add(slot);
      slot->set(HandleState::kLive);
      return;
    }
    sched_yield();  // another thread is freeing or keeping it, which takes no longer than this
  }
}

void exit_innermost(ThreadState& state) {
  tdm_scope* scope = state.scope;
  scope->ending = true;
  // One at a time: dropping a tensor may call back into code that frees others, and that opens scopes.
  while (scope->first || state.scope != scope) {
    if (state.scope != scope) {
      exit_innermost(state);
    } else {
      end_handle(state, scope, scope->first);
    }
  }
  scope->ending = false;
  state.scope = scope->outer;
  scope->owner.store(nullptr, std::memory_order_relaxed);
  scope->outer = nullptr;
  state.count(Kind::kScope, -1);
  std::lock_guard<std::mutex> lock(slots().mutex);
  scope->next_free = slots().free;
  slots().free = scope;
}

void exit_asked_for(ThreadState& state) {
  while (state.scope && !state.scope->ending &&
         state.scope->exit_asked.load(std::memory_order_acquire) ==
             state.scope->generation.load(std::memory_order_relaxed)) {
    exit_innermost(state);
  }
}

}  // namespace

tdm_scope* enter_scope(ThreadState& state) {
  exit_asked_for(state);
  tdm_scope* scope = nullptr;
  {
    std::lock_guard<std::mutex> lock(slots().mutex);
    scope = slots().free;
    if (scope) {
      slots().free = scope->next_free;
    } else {
      scope = new tdm_scope;
      scope->slot = ++slots().made;
    }
  }
  const std::uint32_t last = scope->generation.load(std::memory_order_relaxed);
  scope->generation.store(last == UINT32_MAX ? 1 : last + 1, std::memory_order_relaxed);
  scope->owner.store(&state, std::memory_order_relaxed);
  scope->outer = state.scope;
  state.scope = scope;
  state.count(Kind::kScope, 1);
  return scope;
}

void exit_scope(ThreadState& state, tdm_scope* scope) {
  // Called back by the end of a scope, it cannot end that one again, nor those around it before.
  for (tdm_scope* open = state.scope; open != scope->outer; open = open->outer) {
    if (!open->ending) continue;
    if (open != scope) {
      scope->exit_asked.store(scope->generation.load(std::memory_order_relaxed), std::memory_order_release);
    }
    return;
  }
  while (state.scope != scope) exit_innermost(state);
  exit_innermost(state);
  exit_asked_for(state);
}

namespace {

// The handle of an open scope.
tdm_scope* handle_of(tdm_scope* scope) {
  return with_generation<tdm_scope>(scope,
                                    static_cast<std::uint16_t>(scope->generation.load(std::memory_order_relaxed)));
}

// The scope of a handle and its generation; NULL for what is no scope, or for one that has ended.
std::pair<tdm_scope*, std::uint32_t> open_scope(const tdm_scope* handle) {
  tdm_scope* scope = address_of(const_cast<tdm_scope*>(handle));
  if (!scope || !scope->is_scope()) return {nullptr, 0};
  const std::uint32_t generation = scope->generation.load(std::memory_order_relaxed);
  if (static_cast<std::uint16_t>(generation) != generation_of(handle)) return {nullptr, 0};
  return {scope->owner.load(std::memory_order_relaxed) ? scope : nullptr, generation};
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_scope_enter(tdm_scope** out) {
  return guard("tdm_scope_enter", [&] {
    not_null(out, "out");
    *out = handle_of(enter_scope(tandem::thread_state()));
  });
}

void tdm_scope_exit(tdm_scope* scope) {
  guard_end("tdm_scope_exit", [&](tandem::ThreadState& state) {
    if (tandem::process_exits.load(std::memory_order_relaxed)) return;
    const auto [open, generation] = open_scope(scope);
    if (!open) return;
    if (open->owner.load(std::memory_order_relaxed) == &state) {
      exit_scope(state, open);
    } else {
      open->exit_asked.store(generation, std::memory_order_release);
    }
  });
}

void tdm_scope_keep(tdm_tensor* tensor) {
  const tandem::ThreadState* state = tandem::thread_state_if_memory();
  if (!state) return;
  TensorSlot* slot = claim(tensor, HandleState::kMoving);
  if (!slot) return;
  tdm_scope* scope = slot->scope.load(std::memory_order_relaxed);
  if (scope && scope->owner.load(std::memory_order_relaxed) != state) {
    slot->set(HandleState::kKept);
    return;
  }
  if (scope) {
    scope->remove(slot);
    if (scope->outer) scope->outer->add(slot);
  }
  slot->set(HandleState::kLive);
}

std::uint64_t tdm_tensor_scope_id(const tdm_tensor* tensor) {
  const TensorSlot* slot = live_slot(tensor);
  const tdm_scope* scope = slot ? slot->scope.load(std::memory_order_relaxed) : nullptr;
  return scope ? scope->id() : 0;
}

std::uint64_t tdm_scope_id(const tdm_scope* scope) {
  const tdm_scope* open = open_scope(scope).first;
  return open ? open->id() : 0;
}

std::uint64_t tdm_scope_current(void) {
  const tandem::ThreadState* state = tandem::current_thread_state;  // a thread without one has no scope
  const tdm_scope* scope = state ? state->scope : nullptr;
  return scope ? scope->id() : 0;
}
