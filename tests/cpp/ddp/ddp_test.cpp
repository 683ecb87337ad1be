// Data-parallel training with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "cpp/ddp/small_models.h"
#include "tandem/ddp.h"

namespace tandem::testing::ddp_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace small_models;

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

class EquivalenceOfGroups : public ::testing::TestWithParam<Variant> {};

TEST_P(EquivalenceOfGroups, TwoRanksWithHalfTheBatchTrainLikeOneWithAllOfIt) {
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

INSTANTIATE_TEST_SUITE_P(Options, EquivalenceOfGroups,
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

// ---------------------------------------------------------------------------------------------- refusals by name

TEST(DataParallel, ParametersThatItCannotTrainAreNamed) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"));
  const at::Tensor good = torch::ones({2}, torch::requires_grad());
  const auto refusal = [&](const at::Tensor& parameter) {
    const Error error = error_of([&] { DataParallelReducer(group, {good, parameter}, {"good", "fc.weight"}, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return std::string(error.what());
  };
  const auto names = [](const char* why) { return AllOf(HasSubstr("parameter 'fc.weight'"), HasSubstr(why)); };
  const at::Tensor leaf = torch::ones({2}, torch::requires_grad());
  EXPECT_THAT(refusal(leaf * 2), names("result of an operation"));
  EXPECT_THAT(refusal(at::Tensor()), names("undefined"));
  {
    const c10::InferenceMode inference;
    EXPECT_THAT(refusal(torch::ones({2})), names("inference mode"));
  }
  EXPECT_THAT(refusal(torch::eye(2).to_sparse()), names("sparse"));
  EXPECT_THAT(refusal(torch::ones({2}, torch::kMeta).set_requires_grad(true)), names("'meta'"));
}

TEST(DataParallel, OptionsThatMakeNoSenseAreNamed) {
  const auto group = ProcessGroup::create(options_for(0, 1, "none"));
  const auto refusal = [&](auto change) {
    DataParallelOptions options;
    change(options);
    Plain net;
    const Error error = error_of([&] { DistributedDataParallel<Plain>(net, group, options); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal([](auto& o) { o.bucket_cap_mb = -1; }), HasSubstr("bucket_cap_mb is -1"));
  EXPECT_THAT(refusal([](auto& o) { o.first_bucket_mb = NAN; }), HasSubstr("first_bucket_mb"));
  EXPECT_THAT(refusal([](auto& o) { o.skip_all_reduce_unused_params = true; }), HasSubstr("find_unused_parameters"));
  EXPECT_THAT(refusal([](auto& o) { o.mixed_precision.param_dtype = torch::kLong; }), HasSubstr("Long"));
  EXPECT_THAT(refusal([](auto& o) {
                o.mixed_precision.param_dtype = torch::kBFloat16;
                o.find_unused_parameters = true;
              }),
              HasSubstr("param_dtype"));
}

TEST(DataParallel, IgnoredParametersAndBuffersStayEachRanksOwn) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    {
      torch::NoGradGuard no_grad;
      net->second->bias.fill_(group->rank() + 1.0);
      net->norm->running_mean.fill_(group->rank() + 1.0);
      net->norm->running_var.fill_(group->rank() + 1.0);
    }
    DataParallelOptions options;
    options.parameters_to_ignore = {"second.bias", "norm.running_mean"};
    DistributedDataParallel<Net> ddp(net, group, options);
    EXPECT_EQ(net->second->bias[0].item<float>(), group->rank() + 1.0);
    EXPECT_EQ(net->norm->running_mean[0].item<float>(), group->rank() + 1.0);
    EXPECT_EQ(net->norm->running_var[0].item<float>(), 1.0);
    (ddp.forward(torch::ones({4, 20})) * (group->rank() + 1.0)).sum().backward();
    EXPECT_EQ(net->second->bias.grad()[0].item<float>(), 4.0 * (group->rank() + 1.0));
    const at::Tensor weight = net->second->weight.grad();
    at::Tensor sum = weight.clone();
    group->all_reduce(sum);
    EXPECT_TRUE(torch::allclose(sum, weight * 2));
  });
}

// ------------------------------------------------------------------------------------------- derivatives of gradients

TEST(DataParallel, DoubleBackwardIsRefusedAndHarmsNothing) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Plain net;
    DistributedDataParallel<Plain> ddp(net, group);
    const auto loss = [&] { return ddp.forward(torch::ones({4, 20})).pow(2).sum(); };
    const Error error = error_of([&] { loss().backward({}, /*keep_graph=*/true, /*create_graph=*/true); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("create_graph"), HasSubstr("parameter '")));
    net->zero_grad();
    {
      const auto no_sync = ddp.no_sync();
      loss().backward({}, true, true);  // this rank's own
      EXPECT_TRUE(net->first->weight.grad().requires_grad());
    }
    net->zero_grad();
    loss().backward();
    EXPECT_TRUE(net->first->weight.grad().defined());
    loss().backward();
  });
}

TEST(DataParallel, GradientPenaltiesByGradAreAveraged) {
  torch::manual_seed(4);
  const at::Tensor inputs = torch::randn({2, 4, 20});
  const auto penalty = [](const at::Tensor& x, const at::Tensor& y) {
    const at::Tensor slope = torch::autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0];
    return y.pow(2).mean() + slope.pow(2).sum() / 4;
  };
  Plain reference;
  for (int rank = 0; rank < 2; ++rank) {
    const at::Tensor x = inputs[rank].clone().set_requires_grad(true);
    (penalty(x, reference(x)) / 2).backward();
  }
  std::vector<Plain> replicas = {Plain(), Plain()};
  copy_parameters(reference, replicas[0]);
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, 2), store);
    DistributedDataParallel<Plain> ddp(replicas[rank], group);
    const at::Tensor x = inputs[rank].clone().set_requires_grad(true);
    penalty(x, ddp.forward(x)).backward();
    // The last layer's bias has no part in the slope, but in the other term.
    EXPECT_LT((all_gradients(*replicas[rank]) - all_gradients(*reference)).abs().max().item<double>(), 1e-5);
  });
}

// ------------------------------------------------------------------------------------------------ several forwards

TEST(DataParallel, BuffersAreBroadcastBeforeTheFirstOfSeveralForwards) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Net net;
    DistributedDataParallel<Net> ddp(net, group);
    const auto mean = [&] { return net->norm->running_mean.clone(); };
    for (int step = 0; step < 2; ++step) {
      const at::Tensor first = ddp.forward(torch::randn({8, 20}) + group->rank());
      const at::Tensor between = mean();
      const at::Tensor second = ddp.forward(torch::randn({8, 20}) - group->rank());
      // A broadcast in between would have changed on rank 1 what backward of the first forward has saved.
      (first.sum() + second.sum()).backward();
      std::vector<at::Tensor> all = {between, between.clone()};
      group->all_gather(all, between);
      EXPECT_FALSE(all[0].equal(all[1]));
    }
  });
}

// ------------------------------------------------------------------------------------------------------- statistics

TEST(DataParallel, StatisticsTellBucketsAndTimes) {
  run_groups(2, [](ProcessGroup& borrowed) {
    std::shared_ptr<ProcessGroup> group(&borrowed, [](ProcessGroup*) {});
    Plain net;
    DataParallelOptions options;
    options.bucket_cap_mb = 0.008;
    options.first_bucket_mb = 0.001;
    DistributedDataParallel<Plain> ddp(net, group, options);
    EXPECT_EQ(ddp.reducer().statistics().bucket_bytes.size(), 1u);
    ddp.reducer().set_statistics_sample_rate(1);
    for (int i = 0; i < 4; ++i) ddp.forward(torch::ones({4, 20})).sum().backward();
    ddp.forward(torch::ones({4, 20}));
    const auto statistics = ddp.reducer().statistics();
    EXPECT_TRUE(statistics.buckets_rebuilt);
    EXPECT_GE(statistics.iterations, 4);
    // In the order in which gradients come: the last layer's, until the first bucket has its kilobyte.
    ASSERT_GE(statistics.bucket_bytes.size(), 2u);
    EXPECT_EQ(statistics.bucket_bytes.size(), statistics.bucket_parameters.size());
    EXPECT_THAT(statistics.bucket_parameters[0], ::testing::UnorderedElementsAre("third.weight", "third.bias"));
    EXPECT_EQ(statistics.bucket_bytes[0], 4 * (50 * 10 + 10));
    EXPECT_GT(statistics.forward_compute, 0);
    EXPECT_GT(statistics.backward_compute, 0);
    EXPECT_GT(statistics.backward_communication, 0);
    EXPECT_GE(statistics.backward_communication, statistics.overlap);
    EXPECT_THAT(error_of([&] { ddp.reducer().set_statistics_sample_rate(0); }).what(), HasSubstr("every 0"));
  });
}

}  // namespace
}  // namespace tandem::testing::ddp_test
