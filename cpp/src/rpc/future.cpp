#include "rpc/future.h"

#include <string>
#include <utility>

#include "jit/errors.h"

namespace tandem::rpc {

void FutureState::complete(std::optional<at::IValue> value, std::optional<Error> error) {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (done_) return;
    if (value) value_ = std::move(*value);
    error_ = std::move(error);
    done_ = true;
    callbacks = std::exchange(callbacks_, {});
    changed_.notify_all();
  }
  for (const auto& callback : callbacks) callback();
}

void FutureState::succeed(at::IValue value) {
  complete(std::move(value), std::nullopt);
}

void FutureState::fail(Error error) {
  complete(std::nullopt, std::move(error));
}

void FutureState::when_done(std::function<void()> callback) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!done_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

bool FutureState::done() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

at::IValue FutureState::wait(std::chrono::milliseconds timeout) const {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return done_; };
  if (timeout.count() <= 0) {
    changed_.wait(lock, done);
  } else if (!changed_.wait_for(lock, timeout, done)) {
    throw Error(ErrorCode::kTimeout,
                "after " + std::to_string(timeout.count()) + " ms the call is still under way; it goes on");
  }
  if (error_) throw *error_;
  return value_;
}

std::optional<Error> FutureState::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

bool Future::done() const {
  return state_->done();
}

at::IValue Future::wait(std::chrono::milliseconds timeout) const {
  return state_->wait(timeout);
}

std::optional<Error> Future::error() const {
  return state_->error();
}

Future Future::then(std::function<at::IValue(const Future&)> function) const {
  const auto next = std::make_shared<FutureState>();
  state_->when_done([function = std::move(function), next, self = *this] {
    try {
      next->succeed(function(self));
    } catch (const Error& error) {
      next->fail(error);
    } catch (...) {
      next->fail(Error(ErrorCode::kCallback, jit::reason_of_current()));
    }
  });
  return Future(next);
}

}  // namespace tandem::rpc
