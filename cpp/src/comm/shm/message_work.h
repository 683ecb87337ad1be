// A send or receive of the shm backend, from its call to its end.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <memory>
#include <vector>

#include "comm/shm/messenger.h"

namespace tandem::shm {

class MessageWork final : public c10d::Work {
 public:
  // Posts the message, whose memory is the tensor's.
  static c10::intrusive_ptr<MessageWork> start(std::shared_ptr<Messenger> messenger, int rank, c10d::OpType type,
                                               const char* title, const at::Tensor& tensor, Message message);

  MessageWork(std::shared_ptr<Messenger> messenger, int rank, c10d::OpType type, const char* title, at::Tensor tensor);

  // Without a limit: moves messages itself where nobody does.
  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override { return {tensor_}; }
  int sourceRank() const override { return source_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  void end(std::exception_ptr failure, int peer);

  const std::shared_ptr<Messenger> messenger_;
  const at::Tensor tensor_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<int> source_{-1};
};

}  // namespace tandem::shm
