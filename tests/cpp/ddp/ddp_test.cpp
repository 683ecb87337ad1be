// Data-parallel training with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "tandem/ddp.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int hidden = 50) {
    first = register_module("first", torch::nn::Linear(20, hidden));
    norm = register_module("norm", torch::nn::BatchNorm1d(hidden));
    second = register_module("second", torch::nn::Linear(hidden, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::relu(norm(first(x)))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

// Without batch statistics, so that half a batch on each of two ranks is the same as all of it on one.
struct PlainImpl : torch::nn::Module {
  PlainImpl() {
    first = register_module("first", torch::nn::Linear(20, 50));
    second = register_module("second", torch::nn::Linear(50, 50));
    third = register_module("third", torch::nn::Linear(50, 10));
  }
  at::Tensor forward(const at::Tensor& x) { return third(torch::tanh(second(torch::tanh(first(x))))); }
  torch::nn::Linear first{nullptr}, second{nullptr}, third{nullptr};
};
TORCH_MODULE(Plain);

// Two heads and a part that only the second uses.
struct HeadsImpl : torch::nn::Module {
  HeadsImpl() {
    body = register_module("body", torch::nn::Linear(20, 30));
    left = register_module("left", torch::nn::Linear(30, 10));
    right = register_module("right", torch::nn::Linear(30, 10));
  }
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x) {
    const at::Tensor hidden = torch::tanh(body(x));
    return {left(hidden), right(hidden)};
  }
  torch::nn::Linear body{nullptr}, left{nullptr}, right{nullptr};
};
TORCH_MODULE(Heads);

at::Tensor all_parameters(torch::nn::Module& module) {
  std::vector<at::Tensor> flat;
  for (const auto& parameter : module.parameters()) flat.push_back(parameter.detach().reshape({-1}));
  return torch::cat(flat).clone();
}

at::Tensor all_gradients(torch::nn::Module& module) {
  std::vector<at::Tensor> flat;
  for (const auto& parameter : module.parameters()) {
    const at::Tensor gradient = parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);
    flat.push_back(gradient.detach().reshape({-1}));
  }
  return torch::cat(flat).clone();
}

// In place, as gradients may be views of buckets.
void step(torch::nn::Module& module, double rate) {
  torch::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) {
    if (!parameter.grad().defined()) continue;
    parameter.sub_(parameter.grad(), rate);
    parameter.grad().zero_();
  }
}

template <typename Module>
void copy_parameters(Module& from, Module& to) {
  torch::NoGradGuard no_grad;
  const auto source = from->parameters();
  auto target = to->parameters();
  for (std::size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
}

struct Data {
  Data() : inputs(torch::randn({50, 64, 20})), labels(torch::randint(10, {50, 64})) {}
  at::Tensor inputs, labels;
};

at::Tensor loss_of(const at::Tensor& output, const at::Tensor& labels) {
  return torch::nn::functional::cross_entropy(output, labels);
}

struct Variant {
  const char* name;
  DataParallelOptions options;
};

DataParallelOptions with(double bucket_mb, bool views, bool unused, bool graph) {
  DataParallelOptions options;
  options.bucket_cap_mb = bucket_mb;
  options.gradient_as_bucket_view = views;
  options.find_unused_parameters = unused;
  options.static_graph = graph;
  return options;
}

class Equivalence : public ::testing::TestWithParam<Variant> {};

TEST_P(Equivalence, TwoRanksWithHalfTheBatchTrainLikeOneWithAllOfIt) {
  torch::manual_seed(7);
  const Data data;
  Plain alone;
  Plain start;
  copy_parameters(start, alone);
  for (int i = 0; i < 50; ++i) {
    loss_of(alone(data.inputs[i]), data.labels[i]).backward();
    step(*alone, 0.1);
  }
  const at::Tensor expected = all_parameters(*alone);
  const at::Tensor before = all_parameters(*start);
  std::vector<Plain> replicas = {Plain(), Plain()};  // rank 1 begins with other parameters
  copy_parameters(start, replicas[0]);

  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    DistributedDataParallel<Plain> ddp(replicas[rank], group, GetParam().options);
    EXPECT_TRUE(all_parameters(*ddp.module()).equal(before));
    for (int i = 0; i < 50; ++i) {
      const at::Tensor inputs = data.inputs[i].narrow(0, rank * 32, 32);
      loss_of(ddp.forward(inputs), data.labels[i].narrow(0, rank * 32, 32)).backward();
      step(*ddp.module(), 0.1);
    }
  });
  const at::Tensor first = all_parameters(*replicas[0]);
  EXPECT_TRUE(first.equal(all_parameters(*replicas[1]))) << "ranks differ";
  EXPECT_LT((first - expected).abs().max().item<double>(), 1e-5);
  EXPECT_GT((first - before).abs().max().item<double>(), 1e-2) << "nothing was learnt";
}

INSTANTIATE_TEST_SUITE_P(Options, Equivalence,
                         ::testing::Values(Variant{"Default", with(25, false, false, false)},
                                           Variant{"Views", with(25, true, false, false)},
                                           Variant{"ManyBuckets", with(0.004, true, false, false)},
                                           Variant{"SearchUnused", with(0.004, false, true, false)},
                                           Variant{"StaticGraph", with(0.004, true, false, true)}),
                         [](const auto& info) { return info.param.name; });

TEST(DataParallel, BuffersComeFromRankZeroBeforeEachTrainingForward) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DistributedDataParallel<Net> ddp(net, group);
    for (int i = 0; i < 3; ++i) {
      const at::Tensor input = torch::randn({8, 20}) + group->rank() * 5.0;
      loss_of(ddp.forward(input), torch::zeros({8}, torch::kLong)).backward();
    }
    // The last forward changed them on each rank by its own batch; the next one begins from rank 0's.
    std::vector<at::Tensor> means = {torch::zeros({50}), torch::zeros({50})};
    group->all_gather(means, net->norm->running_mean);
    EXPECT_FALSE(means[0].equal(means[1]));
    ddp.reducer().prepare_forward(/*training=*/true);
    group->all_gather(means, net->norm->running_mean);
    EXPECT_TRUE(means[0].equal(means[1]));
    EXPECT_EQ(net->norm->num_batches_tracked.item<std::int64_t>(), 3);
  });
}

TEST(DataParallel, EvaluationExchangesNothing) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DistributedDataParallel<Net> ddp(net, group);
    if (group->rank() == 0) {  // alone: would wait for ever if it met the other
      net->eval();
      torch::NoGradGuard no_grad;
      ddp.forward(torch::randn({8, 20}));
      net->train();
    }
    group->barrier();
  });
}

TEST(DataParallel, NoSyncAccumulatesLocallyAndIsAveragedWithTheNextBackward) {
  torch::manual_seed(3);
  const at::Tensor inputs = torch::randn({2, 2, 8, 20});  // round, rank
  const at::Tensor labels = torch::randint(10, {2, 2, 8});
  Plain reference;
  for (int round = 0; round < 2; ++round) {
    for (int rank = 0; rank < 2; ++rank) (loss_of(reference(inputs[round][rank]), labels[round][rank]) / 2).backward();
  }
  std::vector<Plain> replicas = {Plain(), Plain()};
  copy_parameters(reference, replicas[0]);
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    DistributedDataParallel<Plain> ddp(replicas[rank], group);
    {
      const auto no_sync = ddp.no_sync();
      loss_of(ddp.forward(inputs[0][rank]), labels[0][rank]).backward();
    }
    std::vector<at::Tensor> gathered = {all_gradients(*replicas[rank]), all_gradients(*replicas[rank])};
    group->all_gather(gathered, all_gradients(*replicas[rank]));
    EXPECT_FALSE(gathered[0].equal(gathered[1]));
    loss_of(ddp.forward(inputs[1][rank]), labels[1][rank]).backward();
    EXPECT_LT((all_gradients(*replicas[rank]) - all_gradients(*reference)).abs().max().item<double>(), 1e-6);
  });
}

TEST(DataParallel, UnusedParametersAreFoundWhenAskedFor) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Heads heads;
    DataParallelOptions options;
    options.find_unused_parameters = true;
    DistributedDataParallel<Heads> ddp(heads, group, options);
    for (int i = 0; i < 3; ++i) {
      const auto [left, right] = ddp.forward(torch::randn({4, 20}));
      left.sum().backward();  // `right` leads nowhere
    }
    EXPECT_TRUE(heads->left->weight.grad().defined());
    EXPECT_FALSE(heads->right->weight.grad().defined());
    // Used on one rank only: everyone gets the mean.
    const auto [left, right] = ddp.forward(torch::ones({4, 20}));
    (group->rank() == 0 ? left.sum() : left.sum() + right.sum()).backward();
    EXPECT_LT((heads->right->bias.grad() - 2).abs().max().item<double>(), 1e-6);
  });
}

TEST(DataParallel, UnusedParametersAreNamedOtherwise) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Heads heads;
    DistributedDataParallel<Heads> ddp(heads, group);
    std::get<0>(ddp.forward(torch::randn({4, 20}))).sum().backward();
    const Error error = error_of([&] { ddp.forward(torch::randn({4, 20})); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("right.weight"), HasSubstr("right.bias"), HasSubstr("find_unused_parameters")));
  });
}

TEST(DataParallel, FrozenParametersAreOnlyBroadcast) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Plain net;
    for (auto& parameter : net->first->parameters()) parameter.set_requires_grad(false);
    const at::Tensor mine = net->first->weight.detach().clone();
    DistributedDataParallel<Plain> ddp(net, group);
    std::vector<at::Tensor> starts = {torch::zeros_like(mine), torch::zeros_like(mine)};
    group->all_gather(starts, mine);
    EXPECT_TRUE(net->first->weight.equal(starts[0]));
    for (int i = 0; i < 2; ++i) ddp.forward(torch::randn({4, 20})).sum().backward();
    EXPECT_FALSE(net->first->weight.grad().defined());
    EXPECT_TRUE(net->second->weight.grad().defined());
  });
}

TEST(DataParallel, NothingToTrainIsRefused) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"));
  Plain net;
  for (auto& parameter : net->parameters()) parameter.set_requires_grad(false);
  const Error error = error_of([&] { DistributedDataParallel<Plain>(net, group); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("nothing to train"));
}

TEST(DataParallel, WithoutExchangeEachRankTrainsAsIfAlone) {
  const auto group = ProcessGroup::create(options_for(1, 3, "none"));
  Plain net;
  const at::Tensor input = torch::randn({4, 20});
  net(input).sum().backward();
  const at::Tensor alone = net->first->weight.grad().clone();
  net->zero_grad();
  DistributedDataParallel<Plain> ddp(net, group);
  ddp.forward(input).sum().backward();
  EXPECT_TRUE(net->first->weight.grad().equal(alone));
}

TEST(DataParallel, DifferentShapesAreNamedOnEveryRank) {
  run_groups(3, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net(group->rank() == 2 ? 40 : 50);
    const Error error = error_of([&] { DistributedDataParallel<Net>(net, group); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("'first.weight'"), HasSubstr("[50, 20]"), HasSubstr("[40, 20]"), HasSubstr("rank 2")));
  });
}

TEST(DataParallel, DifferentNumbersOfParametersAreNamedOnEveryRank) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    std::vector<at::Tensor> parameters = {torch::zeros({2}, torch::requires_grad())};
    std::vector<std::string> names = {"a"};
    if (group->rank() == 1) {
      parameters.push_back(torch::zeros({3}, torch::requires_grad()));
      names.push_back("b");
    }
    const Error error = error_of([&] { DataParallelReducer(group, parameters, names, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("parameter 'b'"), HasSubstr("rank 0 has 1"), HasSubstr("rank 1 has 2")));
  });
}

TEST(DataParallel, SharedParametersCountOnce) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    at::Tensor shared = torch::ones({4}, torch::requires_grad());
    DataParallelReducer reducer(group, {shared, shared}, {"a", "b"}, {});
    for (int i = 0; i < 2; ++i) {
      shared.mutable_grad().reset();
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {(shared * (group->rank() + 1.0)).sum()};
      reducer.prepare_backward(outputs);
      outputs[0].backward();
      EXPECT_EQ(shared.grad()[0].item<float>(), 1.5f);
    }
  });
}

TEST(DataParallel, GradientsAreTheModulesAgainAfterItsEnd) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"));
  Plain net;
  {
    DistributedDataParallel<Plain> ddp(net, group);
    ddp.forward(torch::randn({4, 20})).sum().backward();
  }
  net(torch::randn({4, 20})).sum().backward();
  EXPECT_TRUE(net->first->weight.grad().defined());
}

}  // namespace
}  // namespace tandem::testing
