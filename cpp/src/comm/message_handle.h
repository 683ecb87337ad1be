// What a caller has of a message that is done only when somebody waits for it.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <vector>

#include "comm/guarded_work.h"

namespace tandem {

// The group keeps the message itself until it is done. When its last caller drops it, the group waits for it, as nobody
// else will: a message that has arrived must not look like one in flight when the group is closed. Thread-safe.
class MessageHandle final : public c10d::Work {
 public:
  explicit MessageHandle(c10::intrusive_ptr<GuardedWork> message);
  ~MessageHandle() override;

  bool isCompleted() override { return message_->isCompleted(); }
  bool isSuccess() const override { return message_->isSuccess(); }
  std::exception_ptr exception() const override { return message_->exception(); }
  int sourceRank() const override { return message_->sourceRank(); }
  std::vector<at::Tensor> result() override { return message_->result(); }
  void synchronize() override { message_->synchronize(); }
  bool wait(std::chrono::milliseconds timeout) override { return message_->wait(timeout); }
  void abort() override { message_->abort(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return message_->getFuture(); }
  float getDuration() const override { return message_->getDuration(); }
  std::uint64_t getSequencenumber() const override { return message_->getSequencenumber(); }

 private:
  const c10::intrusive_ptr<GuardedWork> message_;
};

}  // namespace tandem
