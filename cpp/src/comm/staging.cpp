#include "comm/staging.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <mutex>

#include "comm/device_future.h"

namespace tandem {
namespace {

using c10::ivalue::Future;
using Pairs = std::vector<std::pair<at::Tensor, at::Tensor>>;

Staging::Tensors on_device(const Pairs& pairs) {
  Staging::Tensors tensors;
  for (const auto& [device, cpu] : pairs) tensors.push_back(device);
  return tensors;
}

// Results come back on the thread that waits, or on the one that completes the call where somebody has the future.
class StagedWork final : public c10d::Work {
 public:
  StagedWork(c10::intrusive_ptr<c10d::Work> call, Pairs pairs)
      : c10d::Work(-1, call->retrieveOpType()), call_(std::move(call)), pairs_(std::move(pairs)) {}

  bool isCompleted() override {
    if (!call_->isCompleted()) return false;
    if (call_->isSuccess()) bring_back();
    return true;
  }
  bool isSuccess() const override { return call_->isSuccess(); }
  std::exception_ptr exception() const override { return call_->exception(); }
  int sourceRank() const override { return call_->sourceRank(); }
  std::vector<at::Tensor> result() override { return on_device(pairs_); }
  void synchronize() override { wait(kNoTimeout); }
  bool wait(std::chrono::milliseconds timeout) override {
    const bool done = call_->wait(timeout);
    if (done) bring_back();
    return done;
  }
  void abort() override { call_->abort(); }
  float getDuration() const override { return call_->getDuration(); }
  std::uint64_t getSequencenumber() const override { return call_->getSequencenumber(); }

  c10::intrusive_ptr<Future> getFuture() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (future_) return future_;
    future_ = make_list_future(on_device(pairs_));
    const auto self = c10::intrusive_ptr<StagedWork>::unsafe_reclaim_from_nonowning(this);
    call_->getFuture()->addCallback([self, future = future_](Future& ended) {
      if (ended.hasError()) return future->setError(ended.exception_ptr());
      try {
        self->bring_back();
        future->markCompleted(at::IValue(on_device(self->pairs_)));
      } catch (...) {
        future->setErrorIfNeeded(std::current_exception());
      }
    });
    return future_;
  }

 private:
  void bring_back() {
    std::call_once(brought_back_, [this] {
      const at::NoGradGuard no_grad;
      for (const auto& [device, cpu] : pairs_) device.copy_(cpu);
    });
  }

  const c10::intrusive_ptr<c10d::Work> call_;
  const Pairs pairs_;
  std::once_flag brought_back_;
  std::mutex mutex_;
  c10::intrusive_ptr<Future> future_;
};

}  // namespace

at::Tensor Staging::read(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU);
}

at::Tensor Staging::written(const at::Tensor& tensor) {
  const at::Tensor copy = read(tensor);
  pairs_.emplace_back(tensor.detach(), copy);
  return copy;
}

c10::intrusive_ptr<c10d::Work> Staging::work(c10::intrusive_ptr<c10d::Work> call) const {
  return c10::make_intrusive<StagedWork>(std::move(call), pairs_);
}

}  // namespace tandem
