// SyncBatchNorm against one process's BatchNorm on the joined batch, in double.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"
#include "tandem/sync_batch_norm.h"

namespace tandem::testing::sync_batch_norm_test {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  std::vector<std::int64_t> tail;  // dimensions after rows and channels
  std::vector<std::int64_t> rows;  // of each rank
  bool affine = true;
  std::optional<double> momentum = 0.1;
};

constexpr std::int64_t kChannels = 3;

at::Tensor input_of(const Case& c, int step) {
  std::int64_t rows = 0;
  for (const std::int64_t count : c.rows) rows += count;
  std::vector<std::int64_t> shape = {rows, kChannels};
  shape.insert(shape.end(), c.tail.begin(), c.tail.end());
  return gradient(shape, step) * 2 + 0.5;
}

struct Result {
  at::Tensor output, input_gradient, weight_gradient, bias_gradient;
};

template <typename Norm>
Result pass(Norm& norm, at::Tensor x) {
  x = x.clone().set_requires_grad(true);
  const at::Tensor y = norm->forward(x);
  // Not a function of the normalized values' sums alone, whose gradient would be zero.
  (y.pow(3) * torch::cos(y)).sum().backward();
  Result result{y.detach(), x.grad(), {}, {}};
  if (norm->weight.defined()) {
    result.weight_gradient = norm->weight.grad().clone();
    result.bias_gradient = norm->bias.grad().clone();
    norm->weight.mutable_grad().reset();
    norm->bias.mutable_grad().reset();
  }
  return result;
}

class SyncBatchNormOf : public ::testing::TestWithParam<Case> {};

TEST_P(SyncBatchNormOf, RanksIsBatchNormOfTheJoinedBatch) {
  const Case& c = GetParam();
  const auto options = torch::nn::BatchNormOptions(kChannels).affine(c.affine).momentum(c.momentum);
  const auto fill = [&](auto& norm) {
    norm->to(torch::kDouble);
    if (!c.affine) return;
    torch::NoGradGuard no_grad;
    norm->weight.copy_(torch::tensor({0.5, 1.5, -1.0}, torch::kDouble));
    norm->bias.copy_(torch::tensor({0.1, 0.0, 2.0}, torch::kDouble));
  };
  torch::nn::BatchNorm2d alone(options);
  fill(alone);
  const int size = static_cast<int>(c.rows.size());
  std::vector<Result> expected;
  for (int step = 0; step < 3; ++step) {
    // A BatchNorm2d takes four dimensions; the others are folded into one.
    const at::Tensor x = input_of(c, step);
    Result result = pass(alone, x.view({x.size(0), kChannels, -1, 1}));
    result.output = result.output.view(x.sizes());
    result.input_gradient = result.input_gradient.view(x.sizes());
    expected.push_back(result);
  }
  alone->eval();
  const at::Tensor evaluated = alone->forward(input_of(c, 9).view({-1, kChannels, 1, 1}));

  run_groups(size, [&](ProcessGroup& group) {
    SyncBatchNorm norm(options, shared(group));
    fill(norm);
    std::int64_t begin = 0;
    for (int rank = 0; rank < group.rank(); ++rank) begin += c.rows[rank];
    const std::int64_t rows = c.rows[group.rank()];
    for (int step = 0; step < 3; ++step) {
      const Result got = pass(norm, input_of(c, step).narrow(0, begin, rows));
      const Result& want = expected[step];
      if (rows > 0) {
        EXPECT_LT(difference(got.output, want.output.narrow(0, begin, rows)), 1e-12);
        EXPECT_LT(difference(got.input_gradient, want.input_gradient.narrow(0, begin, rows)), 1e-11);
      }
      if (!c.affine) continue;
      at::Tensor weight = got.weight_gradient, bias = got.bias_gradient;  // each rank has a part of the sum
      group.all_reduce(weight);
      group.all_reduce(bias);
      EXPECT_LT(difference(weight, want.weight_gradient), 1e-10);
      EXPECT_LT(difference(bias, want.bias_gradient), 1e-10);
    }
    EXPECT_LT(difference(norm->running_mean, alone->running_mean), 1e-12);
    EXPECT_LT(difference(norm->running_var, alone->running_var), 1e-12);
    EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 3);
    norm->eval();
    if (group.rank() != 0) return;  // evaluation exchanges nothing
    EXPECT_LT(difference(norm->forward(input_of(c, 9).view({-1, kChannels, 1, 1})), evaluated), 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, SyncBatchNormOf,
                         ::testing::Values(Case{"Rows", {}, {4, 4}}, Case{"Images", {2, 3}, {2, 2, 2}},
                                           Case{"Sequences", {5}, {3, 3}}, Case{"Volumes", {2, 1, 2}, {2, 2}},
                                           Case{"UnevenRows", {2}, {1, 5, 2}}, Case{"ARankWithoutRows", {2}, {3, 0}},
                                           Case{"OneRowEach", {}, {1, 1}}, Case{"WithoutWeights", {2}, {2, 4}, false},
                                           Case{"CumulativeAverage", {2}, {2, 4}, true, std::nullopt}),
                         [](const auto& info) { return info.param.name; });

TEST(SyncBatchNorm, ComputesHalfPrecisionInFloat) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor x = (gradient({4, 3}, 0) * 100).to(torch::kBFloat16);
    const at::Tensor weight = torch::ones({3}), bias = torch::zeros({3});
    const at::Tensor y =
        sync_batch_norm(x.narrow(0, group.rank() * 2, 2), weight, bias, {}, {}, 0, 1e-5, shared(group));
    EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
    const at::Tensor want = torch::batch_norm(x.to(torch::kFloat), weight, bias, {}, {}, true, 0, 1e-5, false);
    EXPECT_LT(difference(y.to(torch::kFloat), want.narrow(0, group.rank() * 2, 2)), 0.02);
  });
}

TEST(SyncBatchNorm, NamesWhatItCannotTake) {
  run_groups(1, [](ProcessGroup& group) {
    const auto norm = [&](const at::Tensor& x) { return sync_batch_norm(x, {}, {}, {}, {}, 0.1, 1e-5, shared(group)); };
    EXPECT_THAT(error_of([&] { norm(torch::ones({1, 3})); }).what(), HasSubstr("1 values a channel"));
    EXPECT_THAT(error_of([&] { norm(torch::ones({3})); }).what(), HasSubstr("[rows, channels"));
    const at::Tensor x = gradient({4, 3}, 0).set_requires_grad(true);
    const at::Tensor y = norm(x).pow(3).sum();
    EXPECT_EQ(error_of([&] { torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true); }).code(),
              ErrorCode::kUnsupported);
  });
}

TEST(SyncBatchNorm, TakesThePlaceOfTheRegistrysBatchNorms) {
  run_groups(2, [](ProcessGroup& group) {
    for (const auto& [type, tail] : {std::pair<const char*, std::vector<std::int64_t>>{"BatchNorm1d", {}},
                                     {"BatchNorm2d", {2, 2}},
                                     {"BatchNorm3d", {1, 2, 2}}}) {
      auto module = nn::make_module(type, {{"num_features", 3}});
      const at::Tensor weight = module->get().named_parameters()["weight"];
      auto converted = synchronize_batch_norm(module, shared(group));
      ASSERT_TRUE(converted) << type;
      EXPECT_EQ(converted->type(), "SyncBatchNorm");
      EXPECT_TRUE(converted->get().named_parameters()["weight"].is_same(weight));
      std::vector<std::int64_t> shape = {4, 3};
      shape.insert(shape.end(), tail.begin(), tail.end());
      const at::Tensor x = gradient(shape, 0).to(torch::kFloat);
      const at::Tensor y = converted->forward({x.narrow(0, group.rank() * 2, 2)})[0].toTensor();
      const at::Tensor want = torch::batch_norm(x, {}, {}, {}, {}, true, 0, 1e-5, false);
      EXPECT_LT(difference(y, want.narrow(0, group.rank() * 2, 2)), 1e-5);
      EXPECT_EQ(converted->get().named_buffers()["num_batches_tracked"].item<std::int64_t>(), 1);
    }
    auto linear = nn::make_module("Linear", {{"in_features", 2}, {"out_features", 2}});
    EXPECT_FALSE(synchronize_batch_norm(linear, shared(group)));
    EXPECT_TRUE(linear) << "stays its owner's";
  });
}

TEST(SyncBatchNorm, IsThatOfAllLayersInANetwork) {
  torch::manual_seed(4);
  const auto alone = nn::make_module("resnet18", {{"width", 2}, {"num_classes", 3}});
  alone->to(std::nullopt, torch::kDouble);
  std::vector<std::unique_ptr<nn::Module>> networks;
  for (int rank = 0; rank < 2; ++rank) networks.push_back(alone->clone());
  const at::Tensor x = torch::rand({4, 3, 32, 32}, torch::kDouble);
  const at::Tensor want = alone->forward({x})[0].toTensor();
  want.pow(3).sum().backward();
  run_groups(2, [&](ProcessGroup& group) {
    const auto network = synchronize_batch_norm(networks[group.rank()], shared(group));
    ASSERT_TRUE(network);
    const std::int64_t first = group.rank() * 2;
    const at::Tensor y = network->forward({x.narrow(0, first, 2)})[0].toTensor();
    EXPECT_LT(difference(y, want.narrow(0, first, 2)), 1e-10);
    y.pow(3).sum().backward();
    for (const char* name : {"conv1.weight", "layer2.0.downsample.1.bias", "layer4.1.bn2.weight"}) {
      const at::Tensor sum = network->get().named_parameters()[name].grad();
      group.all_reduce(sum);  // each rank has a part of it
      EXPECT_LT(difference(sum, alone->get().named_parameters()[name].grad()), 1e-9) << name;
    }
    for (const char* name : {"bn1.running_var", "layer4.1.bn2.running_mean"}) {
      EXPECT_LT(difference(network->get().named_buffers()[name], alone->get().named_buffers()[name]), 1e-10) << name;
    }
    EXPECT_EQ(error_of([&] { network->clone(); }).code(), ErrorCode::kUnsupported);
  });
}

TEST(SyncBatchNorm, TrainsUnderDataParallelAsOneProcessDoes) {
  const auto batch = [](int step) { return gradient({12, 4}, step); };
  const auto train = [&](auto& first, auto& norm, auto& last, const std::function<void(int)>& body) {
    for (auto* module : std::initializer_list<torch::nn::Module*>{first.get(), norm.get(), last.get()}) {
      module->to(torch::kDouble);
    }
    for (int step = 0; step < 4; ++step) body(step);
  };
  torch::manual_seed(2);
  torch::nn::Linear first(4, 3), last(3, 2);
  torch::nn::BatchNorm1d norm(3);
  const auto start = [&](torch::nn::Linear& a, torch::nn::Linear& b) {
    torch::NoGradGuard no_grad;
    a->to(torch::kDouble);
    b->to(torch::kDouble);
    for (auto [from, to] : {std::pair{first, a}, std::pair{last, b}}) {
      to->weight.copy_(from->weight);
      to->bias.copy_(from->bias);
    }
  };
  const auto step_all = [](std::vector<at::Tensor> parameters) {
    torch::NoGradGuard no_grad;
    for (auto& parameter : parameters) {
      parameter.sub_(parameter.grad(), 0.3);
      parameter.mutable_grad().reset();
    }
  };
  const auto parameters_of_all = [](auto& a, auto& n, auto& b) {
    return std::vector<at::Tensor>{a->weight, a->bias, n->weight, n->bias, b->weight, b->bias};
  };
  std::vector<torch::nn::Linear> copies;
  for (int i = 0; i < 4; ++i) copies.push_back(i % 2 == 0 ? torch::nn::Linear(4, 3) : torch::nn::Linear(3, 2));
  for (int i = 0; i < 4; i += 2) start(copies[i], copies[i + 1]);
  train(first, norm, last, [&](int step) {
    last(torch::tanh(norm(first(batch(step))))).pow(2).sum(1).mean().backward();
    step_all(parameters_of_all(first, norm, last));
  });
  run_groups(2, [&](ProcessGroup& group) {
    auto &a = copies[group.rank() * 2], &b = copies[group.rank() * 2 + 1];
    SyncBatchNorm sync(torch::nn::BatchNormOptions(3), shared(group));
    sync->to(torch::kDouble);
    DataParallelReducer reducer(shared(group), parameters_of_all(a, sync, b), {}, sync->buffers());
    for (int step = 0; step < 4; ++step) {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> out = {b(torch::tanh(sync(a(batch(step).narrow(0, group.rank() * 6, 6)))))};
      reducer.prepare_backward(out);
      out[0].pow(2).sum(1).mean().backward();
      step_all(parameters_of_all(a, sync, b));
    }
    const auto got = parameters_of_all(a, sync, b), want = parameters_of_all(first, norm, last);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_LT(difference(got[i], want[i]), 1e-11) << i;
    EXPECT_LT(difference(sync->running_var, norm->running_var), 1e-12);
  });
}

}  // namespace
}  // namespace tandem::testing::sync_batch_norm_test
