#include "core/scope.h"

#include <mutex>

namespace tandem::capi {
namespace {

struct Slots {
  std::mutex mutex;
  std::uint32_t made = 0;
  tdm_scope* free = nullptr;
};

Slots& slots() {
  static auto* instance = new Slots;
  return *instance;
}

// What is in the scope that ends now.
void end_handle(ThreadState& state, tdm_scope* scope, tdm_tensor* handle) {
  scope->remove(handle);
  std::uint32_t expected = tdm_tensor::kLive;
  if (handle->state.compare_exchange_strong(expected, tdm_tensor::kFreed, std::memory_order_acquire)) {
    release_handle(state, handle);
  } else if (expected == tdm_tensor::kLeft) {
    recycle_handle(state, handle);
  } else {  // kKept by another thread
    handle->state.store(tdm_tensor::kLive, std::memory_order_relaxed);
    if (scope->outer) scope->outer->add(handle);
  }
}

void exit_innermost(ThreadState& state) {
  tdm_scope* scope = state.scope;
  // One at a time: dropping a tensor may call back into code that frees others.
  while (scope->first) end_handle(state, scope, scope->first);
  state.scope = scope->outer;
  scope->owner = nullptr;
  scope->outer = nullptr;
  state.count(Kind::kScope, -1);
  std::lock_guard<std::mutex> lock(slots().mutex);
  scope->next_free = slots().free;
  slots().free = scope;
}

void exit_asked_for(ThreadState& state) {
  while (state.scope && state.scope->exit_asked.load(std::memory_order_acquire)) exit_innermost(state);
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
  ++scope->generation;
  scope->exit_asked.store(false, std::memory_order_relaxed);
  scope->owner = &state;
  scope->outer = state.scope;
  state.scope = scope;
  state.count(Kind::kScope, 1);
  return scope;
}

void exit_scope(ThreadState& state, tdm_scope* scope) {
  if (scope->owner != &state) {
    if (scope->owner) scope->exit_asked.store(true, std::memory_order_release);
    return;
  }
  while (state.scope != scope) exit_innermost(state);
  exit_innermost(state);
  exit_asked_for(state);
}

}  // namespace tandem::capi

using tandem::CallMark;
using namespace tandem::capi;

tdm_error* tdm_scope_enter(tdm_scope** out) {
  return guard("tdm_scope_enter", [&] {
    not_null(out, "out");
    *out = enter_scope(tandem::thread_state());
  });
}

void tdm_scope_exit(tdm_scope* scope) {
  CallMark mark("tdm_scope_exit");
  if (scope && scope->is_scope() && !tandem::process_exits.load(std::memory_order_relaxed))
    exit_scope(mark.state(), scope);
}

void tdm_scope_keep(tdm_tensor* tensor) {
  if (!tensor || !tensor->is_live() || !tensor->scope) return;
  tdm_scope* scope = tensor->scope;
  if (scope->owner != &tandem::thread_state()) {
    std::uint32_t expected = tdm_tensor::kLive;
    tensor->state.compare_exchange_strong(expected, tdm_tensor::kKept, std::memory_order_release);
    return;
  }
  scope->remove(tensor);
  tensor->state.store(tdm_tensor::kLive, std::memory_order_relaxed);
  if (scope->outer) scope->outer->add(tensor);
}

std::uint64_t tdm_tensor_scope_id(const tdm_tensor* tensor) {
  return tensor && tensor->is_live() && tensor->scope ? tensor->scope->id() : 0;
}

std::uint64_t tdm_scope_id(const tdm_scope* scope) {
  return scope && scope->is_scope() && scope->owner ? scope->id() : 0;
}

std::uint64_t tdm_scope_current(void) {
  const tdm_scope* scope = tandem::thread_state().scope;
  return scope ? scope->id() : 0;
}
