// How the core calls functions of its callers'.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/autograd/modes.h"
#include "core/call/guard.h"
#include "core/handles/live_count.h"
#include "core/handles/scope.h"
#include "tandem/runtime.h"

namespace tandem::capi {

// What a C++ program's destroy function throws has nobody to go to.
inline void call_destroy(void (*destroy)(void*), void* user_data) noexcept {
  try {
    destroy(user_data);
  } catch (...) {
  }
}

// What a callback belongs to: the caller's pointer and what ends it. Shared by all who may still call it; the last one
// releases the pointer. Counted as "callback".
class Callback : LiveCount<Kind::kCallback> {
 public:
  explicit Callback(void* user_data) : user_data_(user_data) {}
  ~Callback() {
    if (destroy_ && !process_exits.load(std::memory_order_relaxed)) call_destroy(destroy_, user_data_);
  }

  // From here on the pointer is Tandem's. Called last by what registers: a caller that gets an error keeps it.
  void adopt(void (*destroy)(void*)) noexcept { destroy_ = destroy; }
  void* user_data() const { return user_data_; }

 private:
  void* user_data_;
  void (*destroy_)(void*) = nullptr;
};

// An error that a callback gave, on its way through LibTorch to the call that led to the callback.
class CallbackError : public Error {
 public:
  // Takes `given`.
  CallbackError(const std::string& what, tdm_error* given)
      : CallbackError(what, std::shared_ptr<tdm_error>(given, tandem_error_release)) {}

  // What the callback says that it is; code() is kCallback.
  ErrorCode given_code() const;
  // What the callback attached to its error; the first to ask has it.
  std::pair<void*, void (*)(void*)> take_user_data() const;

 private:
  CallbackError(const std::string& what, std::shared_ptr<tdm_error> given);

  std::shared_ptr<tdm_error> given_;
};

// Thread state of a callback: a scope of its own, no mode of its caller's that it could end, and the program's number
// of OpenMP's threads. What it leaves open ends with it.
class CallbackState {
 public:
  explicit CallbackState(const char* what);
  ~CallbackState();
  CallbackState(const CallbackState&) = delete;
  CallbackState& operator=(const CallbackState&) = delete;

  // Whether this thread is inside of a callback.
  static bool active();

 private:
  CallMark mark_;
  tdm_scope* scope_;
  std::uint64_t scope_id_;
  tdm_mode* modes_;
  ProgramsThreads threads_;
};

// The error for the exception in flight, which a callback of a C++ program let out.
tdm_error* thrown_by_callback();

// Runs `call()`, which gives an error or NULL, then `after()`, which takes tensors out of handles of the callback's
// scope. `kind` is a literal, `name` what errors call the callback. Throws CallbackError.
template <typename Call, typename After>
void run_callback(const char* kind, const std::string& name, Call&& call, After&& after) {
  const CallbackState state(kind);
  tdm_error* error = nullptr;
  try {
    error = call();
  } catch (...) {
    error = thrown_by_callback();
  }
  if (error) throw CallbackError(name, error);
  after();
}

template <typename Call, typename After>
void run_callback(const char* kind, Call&& call, After&& after) {
  run_callback(kind, kind, std::forward<Call>(call), std::forward<After>(after));
}

}  // namespace tandem::capi
