#include "comm/shm/message_work.h"

#include <ATen/core/ivalue.h>

#include "tandem/process_group.h"

namespace tandem::shm {

using c10::ivalue::Future;

MessageWork::MessageWork(std::shared_ptr<Messenger> messenger, int rank, c10d::OpType type, const char* title,
                         at::Tensor tensor)
    : c10d::Work(rank, type, title),
      messenger_(std::move(messenger)),
      tensor_(std::move(tensor)),
      future_(c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()))) {}

c10::intrusive_ptr<MessageWork> MessageWork::start(std::shared_ptr<Messenger> messenger, int rank, c10d::OpType type,
                                                   const char* title, const at::Tensor& tensor, Message message) {
  auto work = c10::make_intrusive<MessageWork>(messenger, rank, type, title, tensor);
  message.data = static_cast<std::byte*>(tensor.mutable_data_ptr());
  message.bytes = tensor.nbytes();
  message.done = [work](std::exception_ptr failure, int peer) { work->end(std::move(failure), peer); };
  messenger->post(std::move(message), WaitsAtOnce::now());
  return work;
}

bool MessageWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) {
    messenger_->help([this] { return isCompleted(); });
  }
  return c10d::Work::wait(timeout);
}

void MessageWork::end(std::exception_ptr failure, int peer) {
  source_ = peer;
  if (failure) {
    future_->setError(failure);
  } else {
    future_->markCompleted(c10::IValue(std::vector<at::Tensor>{tensor_}));
  }
  finish(failure);
}

}  // namespace tandem::shm
