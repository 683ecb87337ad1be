// What a Future shares with the call that completes it.
#pragma once

#include <ATen/core/ivalue.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tandem/rpc.h"

namespace tandem::rpc {

// Completed once; later attempts are ignored. Thread-safe.
struct FutureState {
 public:
  // `devices`: GPUs that have part in calls.
  explicit FutureState(std::vector<c10::Device> devices = {}) : devices_(std::move(devices)) {}

  // `of`: LibTorch's future that has the value's memory on other devices, whose wait() makes a thread's streams wait for it.
  void succeed(at::IValue value, c10::intrusive_ptr<c10::ivalue::Future> of = {});
  void fail(Error error);
  // Calls it once this is done, on the thread that completes it or at once. It throws nothing.
  void when_done(std::function<void()> callback);

  const std::vector<c10::Device>& devices() const { return devices_; }
  bool done() const;
  // Errors: its own; kTimeout.
  at::IValue wait(std::chrono::milliseconds timeout) const;
  std::optional<Error> error() const;

 private:
  void complete(std::optional<at::IValue> value, std::optional<Error> error, c10::intrusive_ptr<c10::ivalue::Future> of);

  const std::vector<c10::Device> devices_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  at::IValue value_;
  c10::intrusive_ptr<c10::ivalue::Future> of_;
  std::optional<Error> error_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace tandem::rpc
