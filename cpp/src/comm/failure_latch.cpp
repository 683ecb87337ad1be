#include "comm/failure_latch.h"

#include <cstring>
#include <utility>

namespace tandem {

std::optional<Error> FailureLatch::reason() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return reason_;
}

Error FailureLatch::reason_to_end() const {
  return reason().value_or(Error(ErrorCode::kInternal, "the group has not ended"));
}

bool FailureLatch::fail(const Error& failure) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!is_open()) return false;
  end(State::kFailed, failure, lock);
  return true;
}

bool FailureLatch::explain(const Error& failure, const Error& explained) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_reason = state() == State::kFailed && reason_->code() == failure.code() &&
                         std::strcmp(reason_->what(), failure.what()) == 0;
  if (is_reason) reason_.emplace(explained);
  return is_reason;
}

bool FailureLatch::abort(const std::string& reason) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (state() == State::kAborted) return false;
  end(State::kAborted, Error(ErrorCode::kAborted, reason), lock);
  return true;
}

bool FailureLatch::close(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!is_open()) return false;
  reason_.emplace(ErrorCode::kAborted, reason);
  state_.store(State::kClosing, std::memory_order_release);
  return true;
}

// Gives the lock up before anybody is told.
void FailureLatch::end(State state, const Error& reason, std::unique_lock<std::mutex>& lock) {
  reason_.emplace(reason);
  state_.store(state, std::memory_order_release);
  ended_.notify_all();
  const std::vector<Listener> listeners = listeners_;
  lock.unlock();
  for (const Listener& listener : listeners) listener(reason);
}

void FailureLatch::listen(Listener listener) {
  std::unique_lock<std::mutex> lock(mutex_);
  listeners_.push_back(listener);
  if (!has_ended()) return;
  const Error reason = *reason_;
  lock.unlock();
  listener(reason);
}

bool FailureLatch::wait_until_ended(std::chrono::milliseconds timeout) const {
  std::unique_lock<std::mutex> lock(mutex_);
  return ended_.wait_for(lock, timeout, [this] { return has_ended(); });
}

}  // namespace tandem
