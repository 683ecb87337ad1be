#include "comm/shm/work.h"

#include <ATen/core/ivalue.h>

#include "comm/shm/queue.h"

namespace tandem::shm {

using c10::ivalue::Future;

Work::Work(std::shared_ptr<Queue> queue, int rank, c10d::OpType type, const char* title, Label label, Body body,
           std::chrono::milliseconds timeout, std::vector<at::Tensor> result, std::vector<at::Tensor> held)
    : c10d::Work(rank, type, title),
      queue_(std::move(queue)),
      label_(label),
      body_(std::move(body)),
      timeout_(timeout),
      result_(std::move(result)),
      held_(std::move(held)) {}

bool Work::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) queue_->help(*this);
  return c10d::Work::wait(timeout);
}

c10::intrusive_ptr<Future> Work::getFuture() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (future_) return future_;
  const auto future = future_ = c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()));
  const bool ended = has_ended();
  lock.unlock();
  if (ended) complete(*future);  // else end() does
  return future;
}

void Work::complete(Future& future) const {
  if (failure_) {
    future.setError(failure_);
  } else {
    future.markCompleted(c10::IValue(result_));
  }
}

void Work::end(std::exception_ptr failure) {
  body_ = nullptr;
  held_.clear();
  c10::intrusive_ptr<Future> future;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = failure;
    has_ended_.store(true, std::memory_order_release);
    future = future_;
  }
  if (future) complete(*future);
  finish(failure);
}

}  // namespace tandem::shm
