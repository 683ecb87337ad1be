// Communication hooks on a device whose streams work as late as they may, as a GPU's might.
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "comm/device_future.h"
#include "support/fake_device/fake_device.h"
#include "ddp/hook_runner.h"

namespace tandem::testing {
namespace {

c10d::GradBucket bucket_of(const at::Tensor& buffer) {
  return c10d::GradBucket(0, 1, buffer, {0}, {static_cast<std::size_t>(buffer.numel())}, {buffer.sizes()}, {buffer},
                          std::nullopt);
}

// As NCCL's works: queued on a stream of its own behind what the caller's stream has, with a future that is complete at
// once, whose value is there for who waits on its events.
c10::intrusive_ptr<c10d::Work> exchange_on_side_stream(const at::Tensor& tensor, const at::Tensor& from) {
  const c10::impl::VirtualGuardImpl device(tensor.device().type());
  const c10::Stream side = device.getStreamFromGlobalPool(tensor.device());
  c10::Event begin(tensor.device().type());
  begin.record(device.getStream(tensor.device()));
  begin.block(side);
  const c10::StreamGuard guard(side);
  tensor.copy_(from, /*non_blocking=*/true);
  auto future = make_list_future({tensor});
  future->markCompleted(c10::IValue(std::vector<at::Tensor>{tensor}));
  return c10d::Work::create_from_future(future);
}

class HookOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_device::install();
    buffer_ = torch::zeros({1000}).to(fake_device::device(0));
  }

  const at::Tensor source_ = torch::arange(1000, torch::kFloat);  // on the host, as what comes from other ranks
  at::Tensor buffer_;
};

TEST_F(HookOnDevice, WhatItsWorkQueuesIsBeforeWhatTheWaiterReads) {
  HookRunner runner(
      [&](c10d::GradBucket& bucket) {
        Exchange exchange;
        exchange.result = bucket.getBufferRef();
        exchange.work = Work(exchange_on_side_stream(exchange.result, source_));
        return exchange;
      },
      true, nullptr);
  auto bucket = bucket_of(buffer_);
  const auto future = runner.runHook(bucket);
  future->wait();
  EXPECT_TRUE(fake_device::read_later(buffer_)().equal(torch::arange(1000, torch::kFloat)));
}

TEST_F(HookOnDevice, WhatALaterStageQueuesIs) {
  HookRunner runner(
      [&](c10d::GradBucket& bucket) {
        const at::Tensor result = bucket.getBufferRef();
        Exchange exchange;
        exchange.work = Work(exchange_on_side_stream(result, torch::full({1000}, -1.0)));
        exchange.then = [result, this] {
          Exchange last;
          last.result = result;
          last.work = Work(exchange_on_side_stream(result, source_));
          return last;
        };
        return exchange;
      },
      true, nullptr);
  auto bucket = bucket_of(buffer_);
  runner.runHook(bucket)->wait();
  EXPECT_TRUE(fake_device::read_later(buffer_)().equal(torch::arange(1000, torch::kFloat)));
}

}  // namespace
}  // namespace tandem::testing
