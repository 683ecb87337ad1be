// DistributedDataParallel with parameters and buckets on a GPU.
#include <gmock/gmock.h>

#include "cpp/comm/threads.h"
#include "gpu/gpu.h"
#include "tandem/ddp.h"

namespace tandem::testing::ddp_test {
namespace {

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(20, 400));
    second = register_module("second", torch::nn::Linear(400, 400));
    third = register_module("third", torch::nn::Linear(400, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return third(torch::tanh(second(torch::tanh(first(x))))); }
  torch::nn::Linear first{nullptr}, second{nullptr}, third{nullptr};
};
TORCH_MODULE(Net);

// The same for all who ask, in double.
Net made() {
  torch::NoGradGuard no_grad;
  Net net;
  int i = 0;
  for (auto& parameter : net->parameters()) {
    parameter.copy_(torch::linspace(-0.1, 0.1, parameter.numel()).view_as(parameter).roll(++i));
  }
  net->to(kGpu, torch::kDouble);
  return net;
}

at::Tensor inputs() {
  return torch::linspace(-1, 1, 16 * 20, torch::dtype(torch::kDouble).device(kGpu)).view({16, 20});
}

at::Tensor loss_of(const at::Tensor& output) {
  return output.square().mean();
}

std::vector<at::Tensor> expected_gradients() {
  Net net = made();
  loss_of(net->forward(inputs())).backward();
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : net->parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

using GpuDdp = Gpu;

// Several buckets a backward, in each way that gradients may lie in them.
void expect_equivalence(ProcessGroup& group, const std::shared_ptr<ProcessGroup>& shared) {
  const auto expected = expected_gradients();
  for (const bool view : {false, true}) {
    Net net = made();
    DataParallelOptions options;
    options.bucket_cap_mb = 0.5;
    options.gradient_as_bucket_view = view;
    DistributedDataParallel<Net> ddp(net, shared, options);
    for (int step = 0; step < 3; ++step) {  // buckets are rebuilt after the first
      net->zero_grad();
      const auto mine = inputs().chunk(group.size())[group.rank()];
      loss_of(ddp.forward(mine)).backward();
      const auto parameters = net->parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        ASSERT_TRUE(parameters[i].grad().is_cuda());
        EXPECT_TRUE(parameters[i].grad().allclose(expected[i], 1e-9, 1e-12)) << "parameter " << i << ", step " << step;
      }
    }
  }
}

TEST_F(GpuDdp, OverNcclGivesTheBareModulesGradients) {
  ProcessGroupOptions options = options_for(0, 1, "nccl");
  options.device = kGpu;
  const auto group = ProcessGroup::create(options, hash_store());
  expect_equivalence(*group, group);
}

TEST_F(GpuDdp, NamesWhatLiesWhereTheGroupExchangesNothing) {
  const auto group = ProcessGroup::create(options_for(0, 1, "shm"), hash_store());
  Net net = made();
  const Error error = error_of([&] { DistributedDataParallel<Net> ddp(net, group); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("parameter 'first.weight' is on cuda:0, whose tensors the group's backend "
                                                 "'shm' does not exchange"));
}

TEST_F(GpuDdp, GoesOnInANewGroupAfterAnAbort) {
  for (int round = 0; round < 2; ++round) {
    ProcessGroupOptions options = options_for(0, 1, "nccl");
    options.device = kGpu;
    const auto group = ProcessGroup::create(options, hash_store());
    expect_equivalence(*group, group);
    group->abort();
  }
}

}  // namespace
}  // namespace tandem::testing::ddp_test
