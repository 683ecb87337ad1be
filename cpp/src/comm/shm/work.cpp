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
      held_(std::move(held)),
      future_(c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()))) {}

bool Work::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) queue_->help(*this);
  return c10d::Work::wait(timeout);
}

void Work::end(std::exception_ptr failure) {
  body_ = nullptr;
  held_.clear();
  if (failure) {
    future_->setError(failure);
  } else {
    future_->markCompleted(c10::IValue(result_));
  }
  finish(failure);
}

}  // namespace tandem::shm
