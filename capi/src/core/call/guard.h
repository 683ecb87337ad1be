// How the C ABI's functions are written: guard("tdm_x", [&] { … }) runs the body and turns whatever it throws into a
// tdm_error, also where there is no memory to say why. Outputs are assigned last, so that they are untouched on error.
// After shutdown the body is not run.
#pragma once

#include <limits>
#include <string>

#include "base/invalid.h"
#include "core/handles/handle.h"
#include "core/operators/intra_op.h"
#include "error_object.h"
#include "tandem/error.h"
#include "tandem/tandem.h"
#include "thread_state.h"

namespace tandem::capi {

// The error for the exception in flight. `operation` is what the caller called; `context`, where not NULL, precedes the
// message ("aten::add.Tensor").
tdm_error* current_error(const char* operation, const char* context = nullptr) noexcept;
// The error for a call after shutdown.
tdm_error* closed_error(const char* operation) noexcept;

// `context()` is asked only in case of an error, and must not throw.
template <typename Body, typename Context>
tdm_error* guard(const char* operation, Body&& body, Context&& context) noexcept {
  try {
    CallMark mark(operation);
    if (CallMark::refused()) [[unlikely]]
      return closed_error(operation);
    const TandemsThreads threads(mark.state());
    try {
      body();
      return nullptr;
    } catch (...) {
      return current_error(operation, context());
    }
  } catch (...) {  // a thread's first call, with no memory for what is kept for it
    return current_error(operation);
  }
}

template <typename Body>
tdm_error* guard(const char* operation, Body&& body) noexcept {
  return guard(operation, body, []() -> const char* { return nullptr; });
}

// For functions that end something and cannot fail: runs `body(state)` as a call. Where a thread calls for the first
// time, and there is no memory for what is kept for it, nothing is ended: who has the handle may try again.
template <typename Body>
void guard_end(const char* operation, Body&& body) noexcept {
  ThreadState* const state = thread_state_if_memory();
  if (!state) [[unlikely]]
    return;
  CallMark mark(*state, operation);
  try {
    body(*state);
  } catch (...) {  // nobody asked whether it worked
  }
}

// The same for a handle that is freed, but no call: what frees itself may wait for others that shut down.
template <IsHandle T>
void free_handle(T* handle) noexcept {
  if (thread_state_if_memory()) delete if_live(handle);
}

// What is freed within a call; nothing once the process exits.
template <IsHandle T>
void free_handle(const char* operation, T* handle) noexcept {
  guard_end(operation, [&](ThreadState&) {
    if (!process_exits.load(std::memory_order_relaxed)) delete if_live(handle);
  });
}

using tandem::invalid;

[[noreturn]] void refuse_null(const char* argument);
[[noreturn]] void refuse_handle(const void* handle, int type, const char* argument);

// A list longer than this is a mistake, and reading it would be a crash.
inline constexpr std::size_t kMaxCount = std::numeric_limits<std::int32_t>::max();
void check_count(std::size_t count, const char* list);

// A number of threads that a machine may have; LibTorch ends the process when it cannot start as many as it is told.
void check_threads(std::int32_t threads);

// For every pointer argument that may not be NULL. A handle must also be live, and of its type.
template <typename T>
T* not_null(T* pointer, const char* argument) {
  if constexpr (IsHandle<T>) {
    if (!if_live(pointer)) refuse_handle(pointer, T::kHandleType, argument);
  } else {
    if (!pointer) refuse_null(argument);
  }
  return pointer;
}

}  // namespace tandem::capi
