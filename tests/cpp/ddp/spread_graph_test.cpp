// The graph of replicas on GPUs, with replicas on the CPU: its nodes ask for no device.
#include "ddp/replicas/spread_graph.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

namespace tandem::testing::spread_graph_test {
namespace {

using internal::connect_replicas;
using internal::disconnect;
using internal::keep_with;

at::Tensor ramp(double from) {
  return torch::arange(3, torch::kDouble) + from;
}

TEST(SpreadGraph, SumsTheGradientsOfReplicas) {
  const at::Tensor a = ramp(1).requires_grad_(), frozen = ramp(2), b = ramp(3).requires_grad_();
  std::vector<std::vector<at::Tensor>> own;
  for (int r = 0; r < 2; ++r) own.push_back({a.detach().clone(), frozen.clone(), b.detach().clone()});
  connect_replicas({a, frozen, b}, own);
  EXPECT_FALSE(own[0][1].requires_grad());
  at::Tensor loss = torch::zeros({}, torch::kDouble);
  for (int r = 0; r < 2; ++r) loss = loss + (own[r][0] * own[r][0] * own[r][2] * (r + 1)).sum() + own[r][1].sum();
  const auto first = torch::autograd::grad({loss}, {a, b}, {}, true, true);
  EXPECT_TRUE(first[0].allclose(2 * a * b * 3));
  EXPECT_TRUE(first[1].allclose(a * a * 3));
  EXPECT_TRUE(torch::autograd::grad({first[0].sum()}, {a})[0].allclose(2 * b * 3));

  // For the next forward they are as they were.
  for (const auto& tensors : own) {
    for (const at::Tensor& tensor : tensors) disconnect(tensor);
  }
  EXPECT_FALSE(own[1][0].requires_grad());
  EXPECT_TRUE(own[1][0].is_leaf());
}

TEST(SpreadGraph, TakesSparseAndDenseGradientsOfOneTensor) {
  const at::Tensor weight = torch::ones({4, 2}, torch::kDouble).requires_grad_();
  const std::vector<std::vector<at::Tensor>> own = {{weight.detach().clone()}, {weight.detach().clone()}};
  connect_replicas({weight}, own);
  const at::Tensor rows = torch::embedding(own[0][0], torch::tensor({1, 1, 3}), -1, false, /*sparse=*/true);
  (rows.sum() + own[1][0].sum()).backward();
  EXPECT_TRUE(weight.grad().equal(torch::tensor({{1., 1.}, {3., 3.}, {1., 1.}, {2., 2.}}, torch::kDouble)));
}

TEST(SpreadGraph, KeepsReplicasAsLongAsTheGraph) {
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> weak = kept;
  const at::Tensor a = ramp(1).requires_grad_();
  std::vector<at::Tensor> outputs = {a * 2, at::Tensor(), ramp(5)};
  keep_with(outputs, std::move(kept));
  EXPECT_FALSE(outputs[1].defined());
  EXPECT_FALSE(outputs[2].requires_grad());
  at::Tensor loss = (outputs[0] * outputs[0]).sum();
  outputs.clear();
  EXPECT_FALSE(weak.expired());
  loss.backward();
  EXPECT_TRUE(a.grad().allclose(8 * a));
  loss.reset();
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace tandem::testing::spread_graph_test
