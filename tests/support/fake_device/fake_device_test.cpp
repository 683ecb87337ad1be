// The tests' own accelerator computes what the CPU does, and refuses what a GPU would.
#include "support/fake_device/fake_device.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

namespace tandem::testing {
namespace {

namespace F = torch::nn::functional;
using ::testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

at::Tensor numbers(at::IntArrayRef sizes, double from = 0.3) {
  return torch::sin(torch::arange(c10::multiply_integers(sizes), torch::kDouble) * 0.7 + from).view(sizes);
}

class FakeDevice : public ::testing::Test {
 protected:
  void SetUp() override { fake_device::install(); }

  // What `call` gives for these tensors, and gradients, are the same on the device, up to rounding: some operators are
  // composed of others there.
  static void expect_same(const std::string& what, const Tensors& given,
                          const std::function<at::Tensor(const Tensors&)>& call) {
    SCOPED_TRACE(what);
    const auto run = [&](at::Device device) {
      Tensors inputs;
      for (const at::Tensor& one : given) {
        inputs.push_back(one.to(device).clone().requires_grad_(one.is_floating_point()));
      }
      Tensors results{call(inputs)};
      if (results[0].requires_grad()) (results[0] * results[0]).sum().backward();
      for (const at::Tensor& input : inputs) {
        if (input.grad().defined()) results.push_back(input.grad());
      }
      return results;
    };
    const Tensors here = run(at::kCPU), there = run(fake_device::device(1));
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      EXPECT_EQ(there[i].device(), fake_device::device(1)) << i;
      EXPECT_TRUE(there[i].cpu().allclose(here[i], 1e-10, 1e-12)) << i << ": " << there[i].cpu() << "\nand\n" << here[i];
    }
  }
};

TEST_F(FakeDevice, ComputesWhatTheCpuDoes) {
  const at::Tensor x = numbers({4, 6}), picture = numbers({2, 3, 8, 8});
  expect_same("linear", {x, numbers({5, 6}), numbers({5})},
              [](const Tensors& t) { return torch::linear(t[0], t[1], t[2]); });
  expect_same("convolution", {picture, numbers({4, 3, 3, 3}), numbers({4})},
              [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 2, 1); });
  expect_same("pooling", {picture}, [](const Tensors& t) { return torch::max_pool2d(t[0], 2); });
  expect_same("layer_norm", {x, numbers({6}), numbers({6})},
              [](const Tensors& t) { return torch::layer_norm(t[0], {6}, t[1], t[2]); });
  expect_same("activations", {x}, [](const Tensors& t) { return torch::gelu(torch::tanh(torch::relu(t[0]))); });
  expect_same("embedding", {numbers({7, 3}), torch::tensor({1, 5, 1})},
              [](const Tensors& t) { return torch::embedding(t[0], t[1]); });
  expect_same("cross entropy", {x, torch::tensor({1, 0, 5, 2})},
              [](const Tensors& t) { return F::cross_entropy(t[0], t[1]); });
  expect_same("attention", {numbers({2, 2, 5, 4}), numbers({2, 2, 5, 4}, 1), numbers({2, 2, 5, 4}, 2)},
              [](const Tensors& t) {
                return torch::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0.0, /*is_causal=*/true);
              });
  expect_same("views", {x}, [](const Tensors& t) {
    return torch::cat({t[0].t().select(0, 2), t[0].view({-1}).slice(0, 3, 20, 2), t[0].unfold(1, 2, 2).flatten()});
  });
  expect_same("indices", {x, torch::tensor({2, 0})}, [](const Tensors& t) { return t[0].index({t[1]}); });
  expect_same("numbers", {x}, [](const Tensors& t) { return torch::tensor(2.0) * t[0] / 3 + t[0].pow(2).mean(); });
}

TEST_F(FakeDevice, KeepsRunningStatistics) {
  torch::nn::BatchNorm1d here(6), there(6);
  for (torch::nn::BatchNorm1d* norm : {&here, &there}) (*norm)->to(torch::kDouble);
  there->to(fake_device::device(0));
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = numbers({4, 6}, step);
    EXPECT_TRUE(there(x.to(fake_device::device(0))).cpu().allclose(here(x), 1e-10, 1e-12));
  }
  EXPECT_TRUE(there->running_var.cpu().equal(here->running_var));
  EXPECT_FALSE(here->running_mean.equal(torch::zeros({6}, torch::kDouble)));
  EXPECT_TRUE(there->running_mean.cpu().equal(here->running_mean));
}

TEST_F(FakeDevice, ViewsAreOfItsMemory) {
  const at::Tensor base = torch::zeros({3, 4}, fake_device::device(0));
  base.t()[1].add_(5);
  base.view({-1}).slice(0, 8, 12).fill_(7);
  EXPECT_TRUE(base.cpu().equal(torch::tensor({{0., 5., 0., 0.}, {0., 5., 0., 0.}, {7., 7., 7., 7.}}).to(at::kFloat)));
}

TEST_F(FakeDevice, CopiesOfEachKindHaveTheElements) {
  const at::Tensor x = numbers({3, 4});
  const at::Tensor first = x.to(fake_device::device(0)), second = first.to(fake_device::device(1));
  EXPECT_TRUE(second.cpu().equal(x));
  EXPECT_TRUE(second.t().contiguous().cpu().equal(x.t()));
  EXPECT_TRUE(second.to(torch::kFloat).cpu().equal(x.to(torch::kFloat)));
  const at::Tensor to = torch::zeros({4, 3}, torch::TensorOptions(torch::kFloat).device(fake_device::device(0)));
  to.t().copy_(x[0]);  // strides, dtype and sizes differ
  EXPECT_TRUE(to.cpu().t().equal(x[0].to(torch::kFloat).expand({3, 4})));
}

TEST_F(FakeDevice, ResizesItsMemory) {
  const at::Tensor x = numbers({3}).to(fake_device::device(2));
  x.resize_({5});
  EXPECT_EQ(x.device(), fake_device::device(2));
  EXPECT_TRUE(x.cpu().slice(0, 0, 3).equal(numbers({3})));
  at::Tensor out = torch::empty({0}, x.options());
  torch::mul_out(out, x, x);
  EXPECT_EQ(out.sizes(), x.sizes());
}

TEST_F(FakeDevice, RefusesTensorsOfSeveralDevices) {
  const at::Tensor x = numbers({3, 3}), there = x.to(fake_device::device(0)), other = x.to(fake_device::device(1));
  const auto error = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const c10::Error& wrong) {
      return std::string(wrong.what_without_backtrace());
    }
    return std::string("nothing is refused");
  };
  EXPECT_THAT(error([&] { torch::mm(there, x); }), HasSubstr("mat2 is on cpu, different from other tensors on fake:0"));
  EXPECT_THAT(error([&] { torch::add(x, other); }), HasSubstr("two devices, fake:1 and cpu"));  // LibTorch's own
  EXPECT_THAT(error([&] { torch::cat({there, other}); }), HasSubstr("fake:1"));
  EXPECT_THAT(error([&] { torch::conv1d(there.unsqueeze(0), x.unsqueeze(2)); }), HasSubstr("weight is on cpu"));
}

TEST_F(FakeDevice, ModulesMoveThereAndBack) {
  torch::nn::Linear linear(3, 2);
  const at::Tensor weight = linear->weight;
  linear(torch::ones({1, 3})).sum().backward();
  linear->zero_grad();
  linear->to(fake_device::device(1));
  EXPECT_TRUE(weight.is_same(linear->weight));
  linear(torch::ones({1, 3}, fake_device::device(1))).sum().backward();
  EXPECT_EQ(weight.grad().device(), fake_device::device(1));
  linear->zero_grad();
  linear->to(at::kCPU);
  linear(torch::ones({1, 3})).sum().backward();
  EXPECT_TRUE(weight.grad().is_cpu());
}

}  // namespace
}  // namespace tandem::testing
