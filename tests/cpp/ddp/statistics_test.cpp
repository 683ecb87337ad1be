// What DataParallelReducer says about its iterations, and iterations that exchange apart from computing.
#include <gmock/gmock.h>

#include <algorithm>

#include "cpp/ddp/iterations.h"

namespace tandem::testing::statistics_test {
namespace {

using ::testing::HasSubstr;

class StatisticsOver : public ::testing::TestWithParam<const char*> {};

TEST_P(StatisticsOver, IterationsAreConsistentAndInOrder) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        for (int i = 0; i < 6; ++i) step(reducer, parameters, group.rank(), i);
        const auto all = reducer.iterations();
        ASSERT_EQ(all.size(), 6u);
        for (std::size_t i = 0; i < all.size(); ++i) {
          EXPECT_EQ(all[i].number, static_cast<std::int64_t>(i));
          EXPECT_FALSE(all[i].separate);
          EXPECT_EQ(all[i].buckets.size(), i == 0 ? 1u : kShapes.size());  // the first tells the order of gradients
          expect_consistent(all[i]);
          if (i > 0) {
            EXPECT_GE(all[i].begun, all[i - 1].begun + all[i - 1].total);
          }
        }
      },
      GetParam());
}

TEST_P(StatisticsOver, MeansAreThoseOfTheIterations) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        reducer.set_separate_exchanges(3);
        for (int i = 0; i < 8; ++i) step(reducer, parameters, group.rank(), i);
        std::vector<std::int64_t> steps, forwards, separates, alones, firsts;
        for (const auto& one : reducer.iterations()) {
          if (one.number < 2) continue;
          if (one.separate) {
            separates.push_back(one.total - one.wait - one.forward_exchange);
            alones.push_back(0);
            for (const BucketTimes& bucket : one.buckets) alones.back() += bucket.done - bucket.begun;
            firsts.push_back(one.buckets[0].done - one.buckets[0].begun);
          } else {
            steps.push_back(one.total);
            forwards.push_back(one.forward);
          }
        }
        ASSERT_EQ(steps.size(), 4u);
        ASSERT_EQ(separates.size(), 2u);
        const auto mean_of_two = [](std::vector<std::int64_t> values, std::size_t from) {
          std::sort(values.begin(), values.end());
          return (values[from] + values[from + 1]) / 2;
        };
        const auto known = reducer.statistics();
        EXPECT_EQ(known.step, mean_of_two(steps, 1));  // the quickest and the slowest do not count
        EXPECT_EQ(known.forward_compute, mean_of_two(forwards, 1));
        EXPECT_EQ(known.step_without_exchange, mean_of_two(separates, 0));
        EXPECT_EQ(known.communication_alone, mean_of_two(alones, 0));
        EXPECT_EQ(known.exposed_communication, std::max<std::int64_t>(0, known.step - known.step_without_exchange));
        ASSERT_EQ(known.bucket_bytes.size(), kShapes.size());
        ASSERT_EQ(known.bucket_times.size(), kShapes.size());
        ASSERT_EQ(known.buckets_alone.size(), kShapes.size());
        EXPECT_EQ(known.buckets_alone[0], mean_of_two(firsts, 0));
        for (std::size_t i = 0; i < kShapes.size(); ++i) {
          EXPECT_EQ(known.bucket_times[i].bytes, known.bucket_bytes[i]);
        }
        EXPECT_LE(known.overlap, known.backward_communication);
        EXPECT_LE(known.communication, known.backward_communication);
      },
      GetParam());
}

TEST_P(StatisticsOver, SeparateIterationsExchangeAfterComputingAndGiveTheSameGradients) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        const auto others = parameters_of(kShapes);
        DataParallelReducer overlapped(shared(group), others, {}, {}, each_alone());
        reducer.set_separate_exchanges(2);
        for (int i = 0; i < 6; ++i) {
          const auto gradients = step(reducer, parameters, group.rank(), i);
          const auto same = step(overlapped, others, group.rank(), i);
          for (std::size_t k = 0; k < gradients.size(); ++k) {
            EXPECT_TRUE(gradients[k].equal(same[k]));
            EXPECT_LT(difference(gradients[k], mean_gradient(kShapes[k], group.size(), i)), 1e-12);
          }
        }
        for (const auto& one : reducer.iterations()) {
          EXPECT_EQ(one.separate, one.number % 2 == 1);
          expect_consistent(one);
          if (!one.separate) continue;
          std::int64_t last = one.backward_begun + one.backward;
          for (const BucketTimes& bucket : one.buckets) {
            EXPECT_GE(bucket.begun, last);
            last = bucket.done;
          }
        }
      },
      GetParam());
}

INSTANTIATE_TEST_SUITE_P(, StatisticsOver, ::testing::Values("gloo", "shm"), [](const auto& one) { return one.param; });

TEST(Statistics, WithoutAnExchangeBucketsTakeNoTimeToSpeakOf) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
        reducer.set_separate_exchanges(2);
        for (int i = 0; i < 4; ++i) step(reducer, parameters, group.rank(), i);
        for (const auto& one : reducer.iterations()) expect_consistent(one);
      },
      "none");
}

// What a reducer is used with; each gives the same gradients in separate iterations as in others.
struct Use {
  const char* name;
  DataParallelOptions options;
  std::function<CommHook(std::shared_ptr<ProcessGroup>)> hook;
};

DataParallelOptions with(bool unused, bool graph, bool views) {
  DataParallelOptions options = each_alone();
  options.find_unused_parameters = unused;
  options.static_graph = graph;
  options.gradient_as_bucket_view = views;
  return options;
}

CommHook power_sgd(std::shared_ptr<ProcessGroup> group) {
  PowerSgdOptions options;
  options.start_power_sgd_iter = 2;
  return power_sgd_hook(std::make_shared<PowerSgdState>(std::move(group), options));
}

class SeparateUses : public ::testing::TestWithParam<Use> {};

TEST_P(SeparateUses, GiveTheSameGradients) {
  run_groups(2, [](ProcessGroup& group) {
    const auto run = [&](std::int64_t every) {
      const auto parameters = parameters_of(kShapes);
      DataParallelReducer reducer(shared(group), parameters, {}, {}, GetParam().options);
      if (GetParam().hook) reducer.register_comm_hook(GetParam().hook(shared(group)));
      reducer.set_separate_exchanges(every);
      std::vector<at::Tensor> all;
      for (int i = 0; i < 6; ++i) {
        for (const auto& one : step(reducer, parameters, group.rank(), i)) all.push_back(one);
      }
      std::int64_t separate = 0;
      for (const auto& one : reducer.iterations()) {
        separate += one.separate;
        expect_consistent(one);
        EXPECT_FALSE(one.buckets.empty());
      }
      EXPECT_EQ(separate, every == 0 ? 0 : every == 1 ? 6 : 3);
      return all;
    };
    const auto expected = run(0);
    for (const std::int64_t every : {1, 2}) {
      const auto gradients = run(every);
      for (std::size_t i = 0; i < gradients.size(); ++i) EXPECT_TRUE(gradients[i].equal(expected[i])) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SeparateUses,
                         ::testing::Values(Use{"unused", with(true, false, false), {}},
                                           Use{"graph", with(false, true, false), {}},
                                           Use{"graph_and_unused", with(true, true, false), {}},
                                           Use{"views", with(false, false, true), {}},
                                           Use{"allreduce_hook", each_alone(), allreduce_hook},
                                           Use{"bf16", each_alone(), bf16_compress_hook},
                                           Use{"quantization", each_alone(),
                                               [](auto group) { return quantization_perchannel_hook(group, 16); }},
                                           Use{"power_sgd", each_alone(), power_sgd}),
                         [](const auto& one) { return one.param.name; });

TEST(Statistics, SeveralForwardsAreOneIterationAndNoSyncIsNone) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    const auto forward = [&] {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
      for (const at::Tensor& parameter : parameters) outputs[0] = outputs[0] + parameter.sum();
      reducer.prepare_backward(outputs);
      return outputs[0];
    };
    step(reducer, parameters, group.rank(), 0);
    {
      reducer.set_require_backward_grad_sync(false);
      forward().backward();
      reducer.set_require_backward_grad_sync(true);
    }
    EXPECT_EQ(reducer.iterations().size(), 1u);
    const at::Tensor first = forward();
    (first + forward()).backward();
    ASSERT_EQ(reducer.iterations().size(), 2u);
    expect_consistent(reducer.iterations().back());
    torch::NoGradGuard no_grad;
    reducer.prepare_forward(false);
    std::vector<at::Tensor> outputs = {parameters[0].sum()};
    reducer.prepare_backward(outputs);
    EXPECT_EQ(reducer.iterations().size(), 2u);
  });
}

TEST(Statistics, KeepTheLastAndEveryFewWhenAsked) {
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    for (int i = 0; i < 300; ++i) step(reducer, parameters, 0, i);
    auto all = reducer.iterations();
    ASSERT_EQ(all.size(), 256u);
    EXPECT_EQ(all.front().number, 44);
    EXPECT_EQ(all.back().number, 299);
    reducer.set_statistics_sample_rate(7);
    for (int i = 300; i < 330; ++i) step(reducer, parameters, 0, i);
    all = reducer.iterations();
    EXPECT_EQ(all.back().number, 329);
    EXPECT_EQ((all.end() - 2)->number, 322);
    EXPECT_THAT(error_of([&] { reducer.set_separate_exchanges(-1); }).what(), HasSubstr("every -1"));
  });
}

// After a join ranks have made different numbers of steps of their own, and must still agree on which are separate.
TEST(Statistics, RanksAgreeOnSeparateIterationsAfterAJoin) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    reducer.set_separate_exchanges(2);
    reducer.begin_join();
    for (int i = 0; i < (group.rank() == 0 ? 2 : 5); ++i) step(reducer, parameters, group.rank(), i);
    reducer.end_join();
    for (const auto& one : reducer.iterations()) EXPECT_FALSE(one.separate);
    for (int i = 0; i < 4; ++i) {
      const auto gradients = step(reducer, parameters, group.rank(), i);
      EXPECT_LT(difference(gradients[0], mean_gradient(kShapes[0], 2, i)), 1e-12);
    }
    const auto all = reducer.iterations();
    EXPECT_EQ(all.back().number, 8);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.separate; }), 2);
  });
}

TEST(Statistics, AFailedBackwardIsNoIteration) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {}, each_alone());
    reducer.set_separate_exchanges(2);
    for (int i = 0; i < 4; ++i) {
      if (i == 1) {  // would be separate
        reducer.prepare_forward(true);
        std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
        for (const at::Tensor& parameter : parameters) outputs[0] = outputs[0] + (parameter * parameter).sum();
        reducer.prepare_backward(outputs);
        EXPECT_EQ(error_of([&] { outputs[0].backward({}, {}, /*create_graph=*/true); }).code(),
                  ErrorCode::kUnsupported);
        continue;
      }
      const auto gradients = step(reducer, parameters, group.rank(), i);
      EXPECT_LT(difference(gradients[0], mean_gradient(kShapes[0], 2, i)), 1e-12);
    }
    const auto all = reducer.iterations();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].number, 1);
    EXPECT_TRUE(all[1].separate);
    expect_consistent(all[2]);
  });
}

TEST(Statistics, TheTableNamesStepAndBuckets) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {"a", "b", "c", "d", "e"}, {}, each_alone());
    EXPECT_THAT(reducer.statistics_table(), HasSubstr("0 iterations, of which the last 0 are kept"));
    reducer.set_separate_exchanges(4);
    for (int i = 0; i < 4; ++i) step(reducer, parameters, group.rank(), i);
    const std::string table = reducer.statistics_table();
    EXPECT_THAT(table, HasSubstr("(gloo, rank " + std::to_string(group.rank()) + " of 2), 4 iterations"));
    EXPECT_THAT(table, HasSubstr("1 of them separate"));
    for (const char* line : {"\nforward ", "\nbackward, computing ", "\n  exposed ", "\nstep without an exchange ",
                             "\ncommunication alone ", "56 B", "9600 B", "\n4 "}) {
      EXPECT_THAT(table, HasSubstr(line)) << table;
    }
  });
}

}  // namespace
}  // namespace tandem::testing::statistics_test
