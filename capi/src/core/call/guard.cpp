#include "core/call/guard.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <tuple>

#include "core/call/callback.h"
#include "core/call/libtorch_message.h"
#include "core/call/strings.h"

namespace tandem::capi {
namespace {

// LibTorch's exceptions have few types; their messages tell more.
tdm_error_code code_of(const std::string& message, tdm_error_code otherwise) {
  if (contains(message, "INTERNAL ASSERT")) return TDM_ERROR_INTERNAL;
  if (contains(message, "can't allocate memory") || contains(message, "not enough memory")) {
    return TDM_ERROR_OUT_OF_MEMORY;
  }
  if (contains(message, "value cannot be converted to type")) return TDM_ERROR_INVALID_ARGUMENT;
  // oneDNN, for shapes and dtypes that it does not compute.
  if (contains(message, "could not create a primitive")) return TDM_ERROR_UNSUPPORTED;
  return otherwise;
}

// The callback's error that led to this one; NULL where there is none.
const CallbackError* cause_of(const std::exception& error) {
  if (const auto* found = dynamic_cast<const CallbackError*>(&error)) return found;
  const auto* nested = dynamic_cast<const std::nested_exception*>(&error);
  if (!nested || !nested->nested_ptr()) return nullptr;
  try {
    nested->rethrow_nested();
  } catch (const std::exception& inner) {
    return cause_of(inner);  // which lives as long as what it is nested in
  } catch (...) {
    return nullptr;
  }
}

// The error for the exception in flight. Throws std::bad_alloc.
tdm_error* described_error(const char* operation, const char* context) {
  const auto make = [&](tdm_error_code code, const std::string& message) {
    const std::string prefix = context ? std::string(context) + ": " : "";
    const std::string text = message.starts_with(prefix) ? message : prefix + message;
    return tandem_error_new(code, operation, text.c_str());
  };
  const auto of_libtorch = [&](tdm_error_code code, const c10::Error& error) {
    return make(code_of(error.what_without_backtrace(), code), readable(error));
  };
  try {
    throw;
  } catch (const Error& error) {
    tdm_error* made = make(static_cast<tdm_error_code>(error.code()), error.what());
    const CallbackError* cause = cause_of(error);
    if (cause && *made->operation) std::tie(made->user_data, made->destroy) = cause->take_user_data();
    return made;
  } catch (const c10::IndexError& error) {
    return of_libtorch(TDM_ERROR_OUT_OF_RANGE, error);
  } catch (const c10::OutOfMemoryError& error) {
    return of_libtorch(TDM_ERROR_OUT_OF_MEMORY, error);
  } catch (const c10::NotImplementedError& error) {
    return of_libtorch(TDM_ERROR_UNSUPPORTED, error);
  } catch (const c10::Error& error) {
    return of_libtorch(TDM_ERROR_INVALID_ARGUMENT, error);
  } catch (const std::bad_alloc&) {
    return make(TDM_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error& error) {
    return make(TDM_ERROR_INVALID_ARGUMENT, readable(error, "an argument asks for more elements than there can be"));
  } catch (const std::out_of_range& error) {
    return make(TDM_ERROR_OUT_OF_RANGE, readable(error, "an argument counts further than there are elements"));
  } catch (const std::exception& error) {
    // Some of LibTorch's checks throw plain std::runtime_error.
    return make(code_of(error.what(), TDM_ERROR_INTERNAL), readable(error));
  } catch (...) {
    return make(TDM_ERROR_INTERNAL, "an exception that is no std::exception");
  }
}

}  // namespace

tdm_error* current_error(const char* operation, const char* context) noexcept {
  try {
    return described_error(operation, context);
  } catch (...) {
    return tandem_error_new(TDM_ERROR_OUT_OF_MEMORY, operation,
                            "out of memory, also for the message of what went wrong");
  }
}

tdm_error* closed_error(const char* operation) noexcept {
  return tandem_error_new(TDM_ERROR_CLOSED, operation, "Tandem was shut down (tdm_shutdown) before this call");
}

void refuse_null(const char* argument) {
  invalid(std::string("argument '") + argument + "' is NULL");
}

void check_count(std::size_t count, const char* list) {
  if (count <= kMaxCount) return;
  invalid(std::string("argument '") + list + "' cannot have " + std::to_string(count) + " elements; at most " +
          std::to_string(kMaxCount) + " are possible");
}

void check_threads(std::int32_t threads) {
  constexpr std::int32_t kMost = 1024;
  if (threads >= 1 && threads <= kMost) return;
  invalid("argument 'threads' is " + std::to_string(threads) + "; it must be at least 1, and at most " +
          std::to_string(kMost));
}

void refuse_handle(const void* handle, int type, const char* argument) {
  refuse_wrong_handle(handle, type, std::string("argument '") + argument + "'");
}

}  // namespace tandem::capi
