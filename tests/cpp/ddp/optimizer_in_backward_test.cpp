// An optimizer that steps within backward does what it would do after it.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"
#include "tandem/zero.h"

namespace tandem::testing::optimizer_in_backward_test {
namespace {

using Optimizers = std::function<std::shared_ptr<optim::Optimizer>(ProcessGroup&, const std::vector<at::Tensor>&)>;

std::shared_ptr<optim::Optimizer> decaying(ProcessGroup&, const std::vector<at::Tensor>& parameters) {
  return optim::make_optimizer("AdamW", parameters, {{"lr", 0.05}, {"weight_decay", 0.1}});
}

std::shared_ptr<optim::Optimizer> spread(ProcessGroup& group, const std::vector<at::Tensor>& parameters) {
  return std::make_shared<ZeroRedundancyOptimizer>(shared(group), "AdamW", parameters,
                                                   std::vector<Option>{{"lr", 0.05}, {"weight_decay", 0.1}});
}

// Trains twice, with the optimizer within backward and after it; `loss` is of a step. All values are the same.
void same_both_ways(ProcessGroup& group, const DataParallelOptions& options, const Optimizers& make,
                    const std::function<std::vector<at::Tensor>()>& make_parameters, std::size_t exchanged,
                    const std::function<at::Tensor(const std::vector<at::Tensor>&, int)>& loss, double tolerance = 1e-12) {
  std::vector<std::vector<at::Tensor>> results;
  for (const bool in_backward : {false, true}) {
    const std::vector<at::Tensor> all = make_parameters();
    const std::vector<at::Tensor> given(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(exchanged));
    DataParallelReducer reducer(shared(group), given, {}, {}, options);
    const auto optimizer = make(group, all);
    if (in_backward) reducer.set_optimizer_in_backward(optimizer);
    for (int step = 0; step < 6; ++step) {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> outputs = {loss(all, step)};
      reducer.prepare_backward(outputs);
      outputs[0].backward();
      if (!in_backward) {
        optimizer->step();
        optimizer->zero_grad();
      }
    }
    std::vector<at::Tensor> values;
    for (const at::Tensor& parameter : all) values.push_back(parameter.detach().clone());
    results.push_back(values);
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_LT(difference(results[0][i], results[1][i]), tolerance) << i;
  }
  EXPECT_GT(difference(results[0][0], make_parameters()[0].detach()), 1e-2);
}

DataParallelOptions alone() {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  return options;
}

TEST(OptimizerInBackward, StepsWhatDdpDoesNotExchangeOnceABackward) {
  run_groups(2, [](ProcessGroup& group) {
    same_both_ways(group, alone(), decaying, [] { return parameters_of({{4}, {3}, {5}, {2}}); }, 3,
                   [&](const std::vector<at::Tensor>& p, int step) {
                     at::Tensor sum = torch::zeros({}, torch::kDouble);
                     for (const at::Tensor& one : p) {
                       sum = sum + (one * gradient(one.sizes().vec(), group.rank(), step)).sum();
                     }
                     return sum;
                   });
  });
}

TEST(OptimizerInBackward, StepsWhatIsAddedToItsOptimizerLater) {
  run_groups(2, [](ProcessGroup& group) {
    std::vector<std::vector<at::Tensor>> results;
    for (const bool in_backward : {false, true}) {
      const std::vector<at::Tensor> all = parameters_of({{4}, {3}, {5}});
      DataParallelReducer reducer(shared(group), {all[0], all[1]}, {}, {}, alone());
      const std::shared_ptr<optim::Optimizer> optimizer = decaying(group, {all[0], all[1]});
      if (in_backward) reducer.set_optimizer_in_backward(optimizer);
      for (int step = 0; step < 4; ++step) {
        if (step == 2) optimizer->add_group({{all[2]}, {{"lr", 0.5}}});
        reducer.prepare_forward(true);
        std::vector<at::Tensor> outputs = {(all[0].sum() * all[1].sum() * all[2].sum())};
        reducer.prepare_backward(outputs);
        outputs[0].backward();
        if (!in_backward) {
          optimizer->step();
          for (const at::Tensor& parameter : all) parameter.mutable_grad() = at::Tensor();
        } else if (step < 2) {
          all[2].mutable_grad() = at::Tensor();
        }
      }
      for (const at::Tensor& parameter : all) results.emplace_back().push_back(parameter.detach().clone());
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(difference(results[i][0], results[i + 3][0]), 1e-12) << i;
    EXPECT_GT(difference(results[5][0], parameters_of({{4}, {3}, {5}})[2].detach()), 1e-2);
  });
}

TEST(OptimizerInBackward, GivesChannelsLastWeightsTheirOwnGradients) {
  run_groups(2, [](ProcessGroup& group) {
    for (const bool views : {false, true}) {
      DataParallelOptions options = alone();
      options.gradient_as_bucket_view = views;
      same_both_ways(
          group, options, decaying,
          [] {
            const at::Tensor weight = gradient({4, 3, 2, 2}, 5).contiguous(at::MemoryFormat::ChannelsLast);
            return std::vector<at::Tensor>{weight.set_requires_grad(true)};
          },
          1,
          [&](const std::vector<at::Tensor>& p, int step) {
            return (p[0] * gradient({4, 3, 2, 2}, group.rank(), step)).sum();
          });
    }
  });
}

TEST(OptimizerInBackward, UpdatesParametersThatComputeInAnotherDtype) {
  run_groups(2, [](ProcessGroup& group) {
    DataParallelOptions options = alone();
    options.mixed_precision.param_dtype = torch::kBFloat16;
    same_both_ways(
        group, options, decaying,
        [] {
          return std::vector<at::Tensor>{torch::ones({4}).set_requires_grad(true), torch::ones({3}).set_requires_grad(true)};
        },
        2,
        [&](const std::vector<at::Tensor>& p, int step) {
          EXPECT_EQ(p[0].scalar_type(), torch::kBFloat16);
          const auto weight = [&](std::int64_t size) { return gradient({size}, group.rank(), step).to(torch::kFloat); };
          return (p[0].to(torch::kFloat) * weight(4)).sum() + (p[1].to(torch::kFloat) * weight(3)).sum();
        },
        1e-6);
  });
}

// The second is used by nobody at odd steps, the third by rank 0 alone.
at::Tensor some_unused(const std::vector<at::Tensor>& p, int rank, int step) {
  at::Tensor sum = (p[0] * gradient({4}, rank, step)).sum();
  if (step % 2 == 0) sum = sum + (p[1] * gradient({3}, rank, step)).sum();
  if (rank == 0) sum = sum + (p[2] * gradient({5}, rank, step)).sum();
  return sum;
}

TEST(OptimizerInBackward, LeavesAloneWhatNoRankUsed) {
  for (const auto& make : {Optimizers(decaying), Optimizers(spread)}) {
    run_groups(2, [&](ProcessGroup& group) {
      DataParallelOptions options = alone();
      options.find_unused_parameters = true;
      same_both_ways(group, options, make, [] { return parameters_of({{4}, {3}, {5}}); }, 3,
                     [&](const std::vector<at::Tensor>& p, int step) { return some_unused(p, group.rank(), step); });
    });
  }
}

TEST(OptimizerInBackward, LeavesAloneWhatAStaticGraphDoesNotUse) {
  run_groups(2, [](ProcessGroup& group) {
    DataParallelOptions options = alone();
    options.static_graph = true;
    same_both_ways(group, options, decaying, [] { return parameters_of({{4}, {3}, {5}}); }, 3,
                   [&](const std::vector<at::Tensor>& p, int step) {
                     at::Tensor sum = (p[0] * gradient({4}, group.rank(), step)).sum();
                     if (group.rank() == 0) sum = sum + (p[2] * gradient({5}, 0, step)).sum();
                     return sum;
                   });
  });
}

// Ranks have different numbers of steps; the optimizer's own exchange goes on with those that are out of inputs.
TEST(ZeroInJoin, DoesNotDecayWhatNoRankUsed) {
  for (const bool in_backward : {false, true}) {
    for (const bool is_static : {false, true}) {
      std::vector<at::Tensor> ends[2];
      run_groups(2, [&](ProcessGroup& group) {
        // Each rank owns one of the first two; nobody uses the second.
        const auto parameters = parameters_of({{5}, {4}});
        DataParallelOptions options = alone();
        options.find_unused_parameters = !is_static;
        options.static_graph = is_static;
        DataParallelReducer reducer(shared(group), parameters, {}, {}, options);
        const auto optimizer = spread(group, parameters);
        JoinOptions join;
        if (in_backward) {
          reducer.set_optimizer_in_backward(optimizer);
        } else {
          join.shadow_step = [&] {
            optimizer->step();
            optimizer->zero_grad();
          };
        }
        reducer.begin_join(join);
        for (int step = 0; step < (group.rank() == 0 ? 5 : 2); ++step) {
          reducer.prepare_forward(true);
          std::vector<at::Tensor> outputs = {(parameters[0] * gradient({5}, group.rank(), step)).sum()};
          reducer.prepare_backward(outputs);
          outputs[0].backward();
          if (in_backward) continue;
          optimizer->step();
          optimizer->zero_grad();
        }
        reducer.end_join();
        ends[group.rank()] = {parameters[0].detach().clone(), parameters[1].detach().clone()};
      });
      EXPECT_EQ(difference(ends[0][0], ends[1][0]), 0);
      EXPECT_GT(difference(ends[0][0], torch::ones({5}, torch::kDouble)), 1e-2);
      for (const auto& end : ends) EXPECT_EQ(difference(end[1], torch::ones({4}, torch::kDouble)), 0) << in_backward;
    }
  }
}

}  // namespace
}  // namespace tandem::testing::optimizer_in_backward_test
