#include "rpc/future.h"

#include <string>
#include <utility>

#include "jit/errors.h"
#include "rpc/function_pool.h"
#include "rpc/session.h"
#include "rpc/streams.h"

namespace tandem::rpc {

void FutureState::complete(std::optional<at::IValue> value, std::optional<Error> error,
                           c10::intrusive_ptr<c10::ivalue::Future> of) {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (done_) return;
    if (value) value_ = std::move(*value);
    error_ = std::move(error);
    if (of && !of->devices().empty()) of_ = std::move(of);
    done_ = true;
    callbacks = std::exchange(callbacks_, {});
    changed_.notify_all();
  }
  for (const auto& callback : callbacks) callback();
}

void FutureState::succeed(at::IValue value, c10::intrusive_ptr<c10::ivalue::Future> of) {
  complete(std::move(value), std::nullopt, std::move(of));
}

void FutureState::fail(Error error) {
  complete(std::nullopt, std::move(error), {});
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
  if (!done()) {
    const FunctionPool::Wait wait;
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_done = [this] { return done_; };
    if (timeout.count() <= 0) {
      changed_.wait(lock, is_done);
    } else if (!changed_.wait_for(lock, timeout, is_done)) {
      lock.unlock();
      throw Error(ErrorCode::kTimeout,
                  "after " + std::to_string(timeout.count()) + " ms the call is still under way; it goes on");
    }
  }
  try {
    if (of_) of_->wait();
    after_default_streams(current_streams(devices_));
  } catch (const c10::Error& failure) {
    if (!error_) throw Error(ErrorCode::kInternal, failure.what_without_backtrace());
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
  const auto next = std::make_shared<FutureState>(state_->devices());
  const auto go_on = [function = std::move(function), next, self = *this] {
    try {
      at::IValue value = function(self);
      before_default_streams(current_streams(next->devices()));
      auto of = computed_here(value, next->devices());
      next->succeed(std::move(value), std::move(of));
    } catch (const Error& error) {
      next->fail(error);
    } catch (...) {
      next->fail(Error(ErrorCode::kCallback, jit::reason_of_current()));
    }
  };
  if (done()) {
    go_on();
    return Future(next);
  }
  // Not on the thread that completes it, which others' answers need.
  state_->when_done([go_on] {
    if (!Session::post(go_on)) go_on();
  });
  return Future(next);
}

}  // namespace tandem::rpc
