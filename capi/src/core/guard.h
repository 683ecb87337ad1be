// How the C ABI's functions are written: guard("tdm_x", [&] { … }) runs the body and turns whatever it throws into a
// tdm_error. Outputs are assigned last, so that they are untouched on error. After shutdown the body is not run.
#pragma once

#include <string>

#include "error_object.h"
#include "tandem/error.h"
#include "tandem/tandem.h"
#include "thread_state.h"

namespace tandem::capi {

// The error for the exception in flight. `operation` is what the caller called; `context`, where not NULL, precedes the
// message ("aten::add.Tensor").
tdm_error* current_error(const char* operation, const char* context = nullptr);
// The error for a call after shutdown.
tdm_error* closed_error(const char* operation);

// `context()` is asked only in case of an error.
template <typename Body, typename Context>
tdm_error* guard(const char* operation, Body&& body, Context&& context) {
  CallMark mark(operation);
  if (CallMark::refused()) [[unlikely]]
    return closed_error(operation);
  try {
    body();
    return nullptr;
  } catch (...) {
    return current_error(operation, context());
  }
}

template <typename Body>
tdm_error* guard(const char* operation, Body&& body) {
  return guard(operation, body, []() -> const char* { return nullptr; });
}

[[noreturn]] inline void invalid(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

[[noreturn]] void refuse_null(const char* argument);

// For every pointer argument that may not be NULL.
template <typename T>
T* not_null(T* pointer, const char* argument) {
  if (!pointer) refuse_null(argument);
  return pointer;
}

}  // namespace tandem::capi
