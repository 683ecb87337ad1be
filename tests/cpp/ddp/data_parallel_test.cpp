// Several replicas in one process give the outputs and gradients of the module itself on the whole batch.
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>

#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/ddp/data_parallel_models.h"
#include "tandem/ddp.h"

namespace tandem::testing::data_parallel_test {
namespace {

using ::testing::HasSubstr;

// Outputs and gradients of parameters and input, by replicas and by the module alone.
template <typename Holder>
void expect_same(Holder module, const at::Tensor& input, int count) {
  DataParallel<Holder> parallel(module, replicas(count));
  EXPECT_EQ(parallel.replicas(), count);
  std::vector<std::vector<at::Tensor>> seen;
  for (const bool in_parallel : {false, true, true}) {
    at::Tensor x = input.detach().clone();
    if (x.is_floating_point()) x.requires_grad_();
    const at::Tensor y = in_parallel ? parallel.forward(x) : module->forward(x);
    (y * numbers(y.sizes().vec(), 1)).sum().backward();
    seen.push_back(take_gradients(*module));
    seen.back().push_back(x.grad());
    seen.back().push_back(y.detach());
  }
  const std::string what = std::to_string(count) + " replicas";
  expect_close(seen[1], seen[0], what);
  for (std::size_t i = 0; i < seen[1].size(); ++i) {  // and the same bits each time
    if (!seen[1][i].defined() || seen[1][i].is_sparse()) continue;
    EXPECT_TRUE(seen[1][i].equal(seen[2][i])) << what << " " << i;
  }
}

TEST(DataParallel, GivesWhatTheModuleGives) {
  for (const int count : {1, 2, 3, 5}) {
    expect_same(Mlp(), numbers({12, 6}), count);
    expect_same(Shared(), numbers({12, 6}), count);
    expect_same(Language(), words({12, 4}), count);
    expect_same(Language(true), words({12, 4}), count);
    Cnn cnn;
    cnn->norm->running_mean.copy_(numbers({3}));
    cnn->eval();
    expect_same(cnn, numbers({12, 6}), count);
  }
}

TEST(DataParallel, TakesBatchesThatDoNotDivide) {
  for (const int rows : {0, 1, 2, 5, 7}) expect_same(Mlp(), numbers({rows, 6}), 4);
}

TEST(DataParallel, SplitsAlongAnotherDimension) {
  torch::nn::Linear layer(4, 4);
  layer->to(torch::kDouble);
  ReplicaOptions options = replicas(2);
  options.dim = 1;
  DataParallel<torch::nn::Linear> parallel(layer, options);
  expect_close(parallel.forward(numbers({3, 6, 4})), layer->forward(numbers({3, 6, 4})));
  options.dim = -2;
  DataParallel<torch::nn::Linear> from_the_end(layer, options);
  expect_close(from_the_end.forward(numbers({3, 6, 4})), layer->forward(numbers({3, 6, 4})));
  EXPECT_THAT(error_of([&] { parallel.forward(numbers({4})); }).what(), HasSubstr("sizes [4] has no dimension 1"));
}

TEST(DataParallel, TakesAndGivesNestedTensors) {
  Nested module;
  DataParallel<Nested> parallel(module, replicas(2));
  std::vector<std::vector<at::Tensor>> seen;
  for (const bool in_parallel : {false, true}) {
    const Pair both(numbers({4, 6}), numbers({4, 6}, 1));
    const std::vector<at::Tensor> list = {numbers({4, 6}, 2), numbers({4, 6}, 3)};
    const at::Tensor scalar = torch::tensor(3.0, torch::kDouble).requires_grad_();
    auto [pair, outputs, map] = in_parallel ? parallel.forward(both, list, std::nullopt, 0.5, scalar)
                                            : module->forward(both, list, std::nullopt, 0.5, scalar);
    // What has no dimension is a vector then, with an element a replica.
    EXPECT_EQ(outputs[1].numel(), in_parallel ? 2 : 1);
    const at::Tensor mean = outputs[1].mean();
    (pair.first.sum() + pair.second.pow(2).sum() + outputs[0].pow(3).sum() + mean + map["squared"].sum()).backward();
    seen.push_back(take_gradients(*module));
    seen.back().insert(seen.back().end(), {scalar.grad(), pair.first.detach(), pair.second.detach(),
                                           outputs[0].detach(), mean.detach(), map["squared"].detach()});
  }
  expect_close(seen[1], seen[0]);
}

TEST(DataParallel, RefusesInputsThatDoNotBelongTogether) {
  Nested module;
  DataParallel<Nested> parallel(module, replicas(2));
  const std::vector<at::Tensor> none;
  const Error error = error_of([&] {
    parallel.forward(Pair(numbers({4, 6}), numbers({3, 6})), none, std::nullopt, 1.0, numbers({}));
  });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("inputs of sizes [4, 6] and [3, 6] differ in dimension 0"));
}

TEST(DataParallel, LeavesFrozenParametersAlone) {
  Mlp module;
  module->a->weight.set_requires_grad(false);
  DataParallel<Mlp> parallel(module, replicas(2));
  parallel.forward(numbers({4, 6})).sum().backward();
  EXPECT_FALSE(module->a->weight.grad().defined());
  EXPECT_TRUE(module->a->bias.grad().defined());
  // Also when that changes later.
  module->a->weight.set_requires_grad(true);
  module->b->weight.set_requires_grad(false);
  take_gradients(*module);
  parallel.forward(numbers({4, 6})).sum().backward();
  EXPECT_TRUE(module->a->weight.grad().defined());
  EXPECT_FALSE(module->b->weight.grad().defined());
  for (at::Tensor& parameter : module->parameters()) parameter.set_requires_grad(false);
  EXPECT_FALSE(parallel.forward(numbers({4, 6})).requires_grad());
}

TEST(DataParallel, KeepsTheFirstReplicasBuffers) {
  Cnn module;
  DataParallel<Cnn> parallel(module, replicas(2));
  auto alone = std::dynamic_pointer_cast<CnnImpl>(module->clone());
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = numbers({8, 6}, step);
    parallel.forward(x);
    alone->forward(x.slice(0, 0, 4));
  }
  expect_close(module->buffers(), alone->buffers());
  EXPECT_EQ(module->norm->num_batches_tracked.item<std::int64_t>(), 3);
  // And evaluation uses them on all replicas.
  module->eval();
  alone->eval();
  expect_close(parallel.forward(numbers({8, 6})), alone->forward(numbers({8, 6})));
}

TEST(DataParallel, MayGoForwardSeveralTimesBeforeBackward) {
  Cnn module;
  auto alone = std::dynamic_pointer_cast<CnnImpl>(module->clone());
  DataParallel<Cnn> parallel(module, replicas(2));
  at::Tensor loss = torch::zeros({}, torch::kDouble), expected = loss;
  for (int step = 0; step < 3; ++step) {
    const at::Tensor x = numbers({8, 6}, step);
    loss = loss + parallel.forward(x).pow(2).sum();
    for (const at::Tensor& half : x.chunk(2)) expected = expected + alone->forward(half).pow(2).sum();
  }
  loss.backward();
  expected.backward();
  expect_close(take_gradients(*module), take_gradients(*alone));
}

TEST(DataParallel, HasTheCallersModes) {
  Doing module([](DoingImpl& self, const at::Tensor& x) {
    EXPECT_FALSE(at::GradMode::is_enabled());
    return x * self.weight;
  });
  DataParallel<Doing> parallel(module, replicas(2));
  {
    const torch::NoGradGuard no_grad;
    EXPECT_FALSE(parallel.forward(numbers({4, 2})).requires_grad());
  }
  {
    const c10::InferenceMode inference;
    EXPECT_TRUE(parallel.forward(numbers({4, 2})).is_inference());
  }
  module->does = [](DoingImpl& self, const at::Tensor& x) { return x * self.weight; };
  DataParallel<Doing> after(module, replicas(2));
  EXPECT_TRUE(after.forward(numbers({4, 2})).requires_grad());
}

TEST(DataParallel, Autocasts) {
  torch::nn::Linear layer(6, 8);
  DataParallel<torch::nn::Linear> parallel(layer, replicas(2));
  std::vector<std::vector<at::Tensor>> seen;
  for (const bool in_parallel : {false, true}) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
    const at::Tensor x = numbers({4, 6}).to(torch::kFloat);
    const at::Tensor y = in_parallel ? parallel.forward(x) : layer->forward(x);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    EXPECT_EQ(y.scalar_type(), at::kHalf);
    y.sum().backward();
    seen.push_back(take_gradients(*layer));
    EXPECT_EQ(seen.back()[0].scalar_type(), at::kFloat);
  }
  EXPECT_TRUE(seen[0][0].allclose(seen[1][0], 1e-2, 1e-2));
}

TEST(DataParallel, FollowsTheModule) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  const at::Tensor x = numbers({4, 6});
  parallel.forward(x);
  {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : module->parameters()) parameter.mul_(2);
  }
  expect_close(parallel.forward(x), module->forward(x));
  for (at::Tensor& parameter : module->parameters()) parameter.set_data(parameter.detach() * 3);
  expect_close(parallel.forward(x), module->forward(x));
  module->to(torch::kFloat);
  EXPECT_EQ(parallel.forward(x.to(torch::kFloat)).scalar_type(), at::kFloat);

  Dropping dropping;
  DataParallel<Dropping> drops(dropping, replicas(2));
  EXPECT_FALSE(drops.forward(x).equal(dropping->layer->forward(x)));
  drops.eval();
  expect_close(drops.forward(x), dropping->layer->forward(x));
}

TEST(DataParallel, NoticesParametersChangedBeforeBackward) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  const at::Tensor loss = parallel.forward(numbers({4, 6})).sum();
  {
    const torch::NoGradGuard no_grad;
    module->b->weight.mul_(2);
  }
  try {
    loss.backward();
    ADD_FAILURE() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("modified by an inplace operation"));
    EXPECT_THAT(error.what(), HasSubstr("in backward of replica 0 of 2"));
  }
}

TEST(DataParallel, KeepsAGraphThatIsToBeKept) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  const at::Tensor loss = parallel.forward(numbers({4, 6})).sum();
  loss.backward({}, /*retain_graph=*/true);
  const auto once = take_gradients(*module);
  loss.backward();
  expect_close(take_gradients(*module), once);
  EXPECT_THROW(loss.backward(), c10::Error);
}

// A penalty on the gradient with respect to the input.
TEST(DataParallel, HasDerivativesOfHigherOrder) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  std::vector<std::vector<at::Tensor>> seen;
  for (const bool in_parallel : {false, true}) {
    const at::Tensor x = numbers({5, 6}).requires_grad_();
    const at::Tensor y = in_parallel ? parallel.forward(x) : module->forward(x);
    const at::Tensor slope = torch::autograd::grad({y.pow(2).sum()}, {x}, {}, true, true)[0];
    const at::Tensor again = torch::autograd::grad({slope.pow(3).sum()}, {x}, {}, true, true)[0];
    (again.pow(2).sum() + slope.sum()).backward();
    seen.push_back(take_gradients(*module));
    seen.back().insert(seen.back().end(), {x.grad(), slope.detach(), again.detach()});
  }
  expect_close(seen[1], seen[0]);
}

TEST(DataParallel, CallsHooksOnceWithTheSum) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  std::vector<at::Tensor> given;
  module->a->weight.register_hook([&](const at::Tensor& gradient) { given.push_back(gradient.clone()); });
  parallel.forward(numbers({4, 6})).sum().backward();
  ASSERT_EQ(given.size(), 1u);
  expect_close(module->a->weight.grad(), given[0]);
}

TEST(DataParallel, SaysWhichReplicaFailed) {
  Mlp module;
  DataParallel<Mlp> parallel(module, replicas(2));
  try {
    parallel.forward(numbers({4, 5}));
    ADD_FAILURE() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("in forward of replica 0 of 2, which was given Double[2, 5]"));
  }
  EXPECT_EQ(parallel.forward(numbers({4, 6})).size(0), 4);

  Doing doing([](DoingImpl& self, const at::Tensor& x) -> at::Tensor {
    if (x[0][0].item<double>() > 0) throw Error(ErrorCode::kDataLoss, "no good");
    if (x[0][0].item<double>() < 0) throw std::runtime_error("what a program throws");
    return x * self.weight;
  });
  DataParallel<Doing> does(doing, replicas(3));
  const at::Tensor x = torch::zeros({3, 2}, torch::kDouble);
  x[2].fill_(1);
  const Error error = error_of([&] { does.forward(x); });
  EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
  EXPECT_STREQ(error.what(), "in forward of replica 2 of 3, which was given Double[1, 2]: no good");
  x[1].fill_(-1);
  const Error lowest = error_of([&] { does.forward(x); });
  EXPECT_EQ(lowest.code(), ErrorCode::kCallback);
  EXPECT_THAT(lowest.what(), HasSubstr("replica 1 of 3, which was given Double[1, 2]: what a program throws"));
}

TEST(DataParallel, RefusesTensorsWhoseGradientWouldBeLost) {
  const at::Tensor captured = torch::ones({2}, torch::kDouble).requires_grad_();
  Doing module([&](DoingImpl& self, const at::Tensor& x) { return x * self.weight * (captured * 2); });
  DataParallel<Doing> parallel(module, replicas(2));
  const Error error = error_of([&] { parallel.forward(numbers({4, 2})); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("of sizes [2] that requires a gradient and is neither a parameter nor an input"));
}

TEST(DataParallel, RefusesBuffersThatRequireGradients) {
  Cnn module;
  module->norm->running_mean.set_requires_grad(true);
  DataParallel<Cnn> parallel(module, replicas(2));
  const Error error = error_of([&] { parallel.forward(numbers({4, 6})); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("a buffer of the module requires a gradient"));
}

TEST(DataParallel, RefusesModulesOnOtherDevices) {
  internal::Replicas two(replicas(2), at::kCPU);
  internal::ReplicaCall call;
  call.parameters = {torch::ones({2}), torch::ones({3}, torch::kMeta)};
  const Error error = error_of([&] { two.run(call); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("of sizes [3] is on meta, the first replica on cpu"));
}

TEST(DataParallel, RefusesToWaitForItself) {
  DataParallel<Doing>* itself = nullptr;
  Doing module([&](DoingImpl&, const at::Tensor& x) { return itself->forward(x); });
  DataParallel<Doing> parallel(module, replicas(2));
  itself = &parallel;
  const Error error = error_of([&] { parallel.forward(numbers({4, 2})); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("a replica called the DataParallel that it belongs to"));
}

TEST(DataParallel, SaysWhatOptionsDoNotFit) {
  const auto refused = [](const ReplicaOptions& options) {
    return std::string(error_of([&] { DataParallel<Mlp>(Mlp(), options); }).what());
  };
  EXPECT_THAT(refused(replicas(-1)), HasSubstr("-1 replicas"));
  ReplicaOptions options = replicas(3);
  options.devices = {at::kCPU, at::kCPU};
  EXPECT_THAT(refused(options), HasSubstr("3 replicas on 2 devices"));
  options.replicas = 0;
  options.devices = {at::Device(at::kCUDA, 0)};
  EXPECT_THAT(refused(options), HasSubstr("the module is on cpu, a replica on cuda:0"));
  options = {};
  options.threads = 5000;
  EXPECT_THAT(refused(options), HasSubstr("5000 threads a replica"));
}

TEST(DataParallel, RandomNumbersDoNotDependOnThreads) {
  Dropping module;
  DataParallel<Dropping> parallel(module, replicas(4));
  const at::Tensor x = numbers({64, 6});
  std::vector<std::vector<at::Tensor>> seen;
  for (int i = 0; i < 5; ++i) {
    torch::manual_seed(7);
    seen.push_back({parallel.forward(x).detach(), torch::rand({4})});
  }
  for (const auto& again : seen) {
    EXPECT_TRUE(again[0].equal(seen[0][0]));
    EXPECT_TRUE(again[1].equal(seen[0][1]));
  }
  // Replicas draw different ones, and so do later forwards.
  const at::Tensor same = numbers({1, 6}).expand({4, 6});
  const at::Tensor rows = parallel.forward(same).detach();
  EXPECT_FALSE(rows[0].equal(rows[1]) && rows[1].equal(rows[2]) && rows[2].equal(rows[3]));
  EXPECT_FALSE(parallel.forward(x).equal(seen[0][0]));
}

TEST(DataParallel, IsUsedByThreadsInTurns) {
  Cnn module;
  module->eval();
  DataParallel<Cnn> parallel(module, replicas(2));
  constexpr int kThreads = 4, kSteps = 20;
  std::vector<at::Tensor> inputs, expected;
  for (int i = 0; i < kThreads; ++i) {
    inputs.push_back(numbers({6, 6}, i));
    const at::Tensor x = inputs.back().clone().requires_grad_();
    expected.push_back(torch::autograd::grad({module->forward(x).pow(2).sum()}, {x})[0]);
  }
  run_ranks(kThreads, [&](int i) {
    for (int step = 0; step < kSteps; ++step) {
      const at::Tensor x = inputs[i].clone().requires_grad_();
      expect_close(torch::autograd::grad({parallel.forward(x).pow(2).sum()}, {x})[0], expected[i]);
    }
  });
}

TEST(DataParallel, TrainsUnderDistributedDataParallel) {
  const at::Tensor x = numbers({8, 6}), target = numbers({8, 3}, 2);
  Mlp first;
  Mlp alone(std::dynamic_pointer_cast<MlpImpl>(first->clone()));
  for (int step = 0; step < 3; ++step) {
    take_gradients(*alone);
    torch::mse_loss(alone->forward(x), target).backward();
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : alone->parameters()) parameter.sub_(parameter.grad());
  }
  run_groups(
      2,
      [&](ProcessGroup& group) {
        Mlp module(std::dynamic_pointer_cast<MlpImpl>(first->clone()));
        auto parallel = std::make_shared<DataParallel<Mlp>>(module, replicas(2));
        DistributedDataParallel<std::shared_ptr<DataParallel<Mlp>>> ddp(parallel, {&group, [](ProcessGroup*) {}});
        const at::Tensor own = x.chunk(2)[group.rank()], labels = target.chunk(2)[group.rank()];
        for (int step = 0; step < 3; ++step) {
          take_gradients(*module);
          torch::mse_loss(ddp.forward(own), labels).backward();
          const torch::NoGradGuard no_grad;
          for (at::Tensor& parameter : module->parameters()) parameter.sub_(parameter.grad());
        }
        expect_close(module->parameters(), alone->parameters());
      },
      "shm");
}

}  // namespace
}  // namespace tandem::testing::data_parallel_test
