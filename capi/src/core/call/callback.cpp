#include "core/call/callback.h"

namespace tandem::capi {
namespace {

thread_local int depth = 0;

// An error that the callback made needs no more than what it says.
std::string callback_message(const std::string& what, const tdm_error& error) {
  const std::string operation = error.operation;
  return what + " failed: " + (operation.empty() || operation == "callback" ? "" : operation + ": ") + error.message;
}

}  // namespace

tdm_error* thrown_by_callback() {
  try {
    throw;
  } catch (const std::exception& error) {
    return tandem_error_new(TDM_ERROR_CALLBACK, "callback", error.what());
  } catch (...) {
    return tandem_error_new(TDM_ERROR_CALLBACK, "callback", "it threw what is no std::exception");
  }
}

CallbackError::CallbackError(const std::string& what, std::shared_ptr<tdm_error> given)
    : Error(ErrorCode::kCallback, callback_message(what, *given)), given_(std::move(given)) {}

ErrorCode CallbackError::given_code() const {
  return static_cast<ErrorCode>(given_->code);
}

std::pair<void*, void (*)(void*)> CallbackError::take_user_data() const {
  return {std::exchange(given_->user_data, nullptr), std::exchange(given_->destroy, nullptr)};
}

CallbackState::CallbackState(const char* what)
    : mark_(what),
      scope_(enter_scope(mark_.state())),
      scope_id_(scope_->id()),
      modes_(set_modes_aside()),
      threads_(mark_.state()) {
  ++depth;
}

CallbackState::~CallbackState() {
  --depth;
  exit_modes_inside(nullptr);
  bring_modes_back(modes_);
  // The callback may have left its caller's scope, and this one with it.
  if (scope_->owner.load(std::memory_order_relaxed) == &mark_.state() && scope_->id() == scope_id_) {
    exit_scope(mark_.state(), scope_);
  }
}

bool CallbackState::active() {
  return depth > 0;
}

}  // namespace tandem::capi
