// Replicas on GPUs. One GPU may be named twice.
#include <gmock/gmock.h>

#include "cpp/ddp/data_parallel_models.h"
#include "gpu/gpu.h"

namespace tandem::testing::data_parallel_test {
namespace {

class DataParallelOnGpus : public Gpu {};

template <typename Holder>
void expect_same(Holder module, at::Tensor input, const std::vector<at::Device>& devices) {
  const at::Device first = devices.front();
  module->to(first);
  input = input.to(first);
  ReplicaOptions options;
  options.devices = devices;
  DataParallel<Holder> parallel(module, options);
  std::vector<std::vector<at::Tensor>> seen;
  for (int pass = 0; pass < 3; ++pass) {
    at::Tensor x = input.detach().clone();
    if (x.is_floating_point()) x.requires_grad_();
    const at::Tensor y = pass > 0 ? parallel.forward(x) : module->forward(x);
    EXPECT_EQ(y.device(), first);
    (y * numbers(y.sizes().vec(), 1).to(first)).sum().backward();
    seen.push_back({});
    for (const at::Tensor& gradient : take_gradients(*module)) seen.back().push_back(gradient.defined() ? gradient.cpu() : gradient);
    if (x.grad().defined()) seen.back().push_back(x.grad().cpu());
    seen.back().push_back(y.detach().cpu());
  }
  for (int pass = 1; pass < 3; ++pass) expect_close(seen[pass], seen[0], "pass " + std::to_string(pass));
}

TEST_F(DataParallelOnGpus, GivesWhatTheModuleGives) {
  std::vector<at::Device> devices;
  for (int i = 0; i < static_cast<int>(std::max<std::size_t>(2, torch::cuda::device_count())); ++i) {
    devices.emplace_back(at::kCUDA, i % static_cast<int>(torch::cuda::device_count()));
  }
  expect_same(Mlp(), numbers({12, 6}), devices);
  expect_same(Mlp(), numbers({1, 6}), devices);
  expect_same(Shared(), numbers({12, 6}), devices);
  expect_same(Language(), words({12, 4}), devices);
  expect_same(Language(true), words({12, 4}), devices);
}

TEST_F(DataParallelOnGpus, TakesThoseOfTheProcess) {
  Mlp module;
  module->to(kGpu);
  DataParallel<Mlp> parallel(module);
  EXPECT_EQ(parallel.replicas(), static_cast<int>(torch::cuda::device_count()));
  EXPECT_EQ(parallel.forward(numbers({4, 6})).device(), kGpu);
}

}  // namespace
}  // namespace tandem::testing::data_parallel_test
