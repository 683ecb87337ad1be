// Trying bucket sizes while training goes on.
#include <gmock/gmock.h>

#include <algorithm>

#include "cpp/ddp/iterations.h"
#include "tandem/optim.h"

namespace tandem::testing::bucket_trial_test {
namespace {

using ::testing::HasSubstr;

BucketTrialOptions three_sizes() {
  BucketTrialOptions options;
  options.sizes_mb = {0, 0.005, 25, 50};  // the last two make the same buckets
  options.iterations = 2;
  options.rounds = 2;
  return options;
}
// Two before it begins, of a static graph three, for LibTorch's reducer learns its order in the second; then three
// layouts, two rounds of two and two iterations, when none is given up after the first.
constexpr int kMostIterations = 3 + 3 * 2 * 4 + 1;

DataParallelOptions with(bool unused, bool graph, bool views) {
  DataParallelOptions options;
  options.find_unused_parameters = unused;
  options.static_graph = graph;
  options.gradient_as_bucket_view = views;
  return options;
}

struct Use {
  const char* name;
  DataParallelOptions options;
  const char* backend;
  int accumulated = 0;  // backwards in no_sync before each that exchanges
};

class Trials : public ::testing::TestWithParam<Use> {};

TEST_P(Trials, GiveRightGradientsAllTheTimeAndOneSizeOnAllRanks) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        const auto parameters = parameters_of(kShapes);
        DataParallelReducer reducer(shared(group), parameters, {}, {}, GetParam().options);
        EXPECT_TRUE(reducer.bucket_advice().trials.empty());
        reducer.try_bucket_sizes(three_sizes());
        EXPECT_FALSE(reducer.bucket_advice().done);
        const auto backward = [&](int step) {
          reducer.prepare_forward(true);
          std::vector<at::Tensor> outputs = {torch::zeros({}, torch::kDouble)};
          for (std::size_t i = 0; i < parameters.size(); ++i) {
            outputs[0] = outputs[0] + (parameters[i] * gradient(kShapes[i], group.rank(), step)).sum();
          }
          reducer.prepare_backward(outputs);
          outputs[0].backward();
        };
        int step = 0;
        for (; step < kMostIterations && !reducer.bucket_advice().done; ++step) {
          for (const at::Tensor& parameter : parameters) {
            if (!parameter.grad().defined()) continue;
            if (step % 2 == 0) {
              parameter.mutable_grad().reset();
            } else {
              parameter.grad().zero_();
            }
          }
          reducer.set_require_backward_grad_sync(false);
          for (int i = 0; i < GetParam().accumulated; ++i) backward(step);
          reducer.set_require_backward_grad_sync(true);
          backward(step);
          for (std::size_t i = 0; i < parameters.size(); ++i) {
            const at::Tensor mean = mean_gradient(kShapes[i], 2, step) * (1 + GetParam().accumulated);
            EXPECT_LT(difference(parameters[i].grad(), mean), 1e-12) << "step " << step;
          }
        }
        const BucketAdvice advice = reducer.bucket_advice();
        ASSERT_TRUE(advice.done);
        ASSERT_EQ(advice.trials.size(), 3u);
        // Which one times decide, as bucket_advisor_test has it: one that was given up may have the lowest.
        const auto best = std::find_if(advice.trials.begin(), advice.trials.end(), [&](const BucketTrial& trial) {
          return trial.bucket_cap_mb == advice.bucket_cap_mb;
        });
        ASSERT_NE(best, advice.trials.end()) << advice.bucket_cap_mb;
        EXPECT_EQ(reducer.options().bucket_cap_mb, best->bucket_cap_mb);
        EXPECT_EQ(advice.trials[0].buckets, static_cast<std::int64_t>(kShapes.size()));
        EXPECT_EQ(advice.trials[2].buckets, 1);
        for (const BucketTrial& trial : advice.trials) EXPECT_GT(trial.step, 0);
        const auto all = group.all_gather_bytes(std::to_string(advice.bucket_cap_mb));
        EXPECT_EQ(all[0], all[1]);
        EXPECT_EQ(reducer.iterations().size(), 1u);  // statistics begin anew
        for (int i = 0; i < 3; ++i) {
          for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
          backward(i);
          EXPECT_LT(difference(parameters[0].grad(), mean_gradient(kShapes[0], 2, i)), 1e-12);
        }
        EXPECT_EQ(static_cast<std::int64_t>(reducer.statistics().bucket_bytes.size()), best->buckets);
        EXPECT_EQ(static_cast<std::int64_t>(reducer.iterations().back().buckets.size()), best->buckets);
      },
      GetParam().backend);
}

INSTANTIATE_TEST_SUITE_P(, Trials,
                         ::testing::Values(Use{"gloo", with(false, false, false), "gloo"},
                                           Use{"shm", with(false, false, false), "shm"},
                                           Use{"views", with(false, false, true), "shm"},
                                           Use{"unused", with(true, false, false), "gloo"},
                                           Use{"graph", with(false, true, false), "gloo"},
                                           Use{"graph_views", with(false, true, true), "shm"},
                                           Use{"accumulated", with(false, false, false), "gloo", 2},
                                           Use{"accumulated_unused", with(true, false, true), "gloo", 1}),
                         [](const auto& one) { return one.param.name; });

TEST(TrialUses, GoOnWithAnOptimizerInBackward) {
  run_groups(2, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    reducer.set_optimizer_in_backward(
        std::shared_ptr<optim::Optimizer>(optim::make_optimizer("SGD", parameters, {{"lr", 1.0}})));
    reducer.try_bucket_sizes(three_sizes());
    at::Tensor expected = parameters[0].detach().clone();
    int step = 0;
    for (; step < kMostIterations && !reducer.bucket_advice().done; ++step) {
      std::vector<at::Tensor> gradients;
      for (const auto& shape : kShapes) gradients.push_back(gradient(shape, group.rank(), step));
      exchange(reducer, parameters, gradients);
      expected = expected - mean_gradient(kShapes[0], 2, step);
      EXPECT_LT(difference(parameters[0].detach(), expected), 1e-12) << step;
    }
    EXPECT_TRUE(reducer.bucket_advice().done);
  });
}

TEST(TrialUses, RefuseWhatCannotBeTried) {
  run_groups(1, [](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    DataParallelReducer reducer(shared(group), parameters, {}, {});
    const auto refused = [&](BucketTrialOptions options) {
      return std::string(error_of([&] { reducer.try_bucket_sizes(options); }).what());
    };
    BucketTrialOptions options;
    options.sizes_mb = {};
    EXPECT_THAT(refused(options), HasSubstr("no size to try"));
    options.sizes_mb = {25, -1};
    EXPECT_THAT(refused(options), HasSubstr("a size is -1.0"));
    options = {};
    options.rounds = 0;
    EXPECT_THAT(refused(options), HasSubstr("rounds 0"));
    reducer.begin_join();
    EXPECT_THAT(refused({}), HasSubstr("a join has begun"));
    reducer.cancel_join();
    reducer.try_bucket_sizes();
    EXPECT_THAT(refused({}), HasSubstr("being tried already"));
    EXPECT_THAT(error_of([&] { reducer.begin_join(); }).what(), HasSubstr("bucket sizes are tried"));

    DataParallelReducer hooked(shared(group), parameters, {}, {});
    hooked.register_comm_hook(bf16_compress_hook(shared(group)));
    EXPECT_EQ(error_of([&] { hooked.try_bucket_sizes(); }).code(), ErrorCode::kUnsupported);
  });
}

}  // namespace
}  // namespace tandem::testing::bucket_trial_test
