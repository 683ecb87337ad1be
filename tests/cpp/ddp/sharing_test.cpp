// Model averaging, the post-local SGD optimizer, and ZeroRedundancyOptimizer.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"
#include "tandem/model_averaging.h"
#include "tandem/zero.h"

namespace tandem::testing::sharing_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor of_rank(int rank) {
  return torch::full({2, 2}, rank + 1.0, torch::kDouble);
}

TEST(ModelAverager, AveragesEachPeriodAfterWarmup) {
  run_groups(2, [](ProcessGroup& group) {
    const auto averager = periodic_model_averager(shared(group), 3, 2);
    std::vector<bool> averaged;
    for (int step = 0; step < 9; ++step) {
      // Two dtypes travel apart; a parameter without elements does no harm.
      std::vector<at::Tensor> parameters = {of_rank(group.rank()), torch::full({3}, group.rank() * 2.f),
                                            torch::empty({0}, torch::kDouble)};
      averaged.push_back(averager->average_parameters(parameters));
      EXPECT_EQ(parameters[0][0][0].item<double>(), averaged.back() ? 1.5 : group.rank() + 1.0);
      EXPECT_EQ(parameters[1][2].item<float>(), averaged.back() ? 1.f : group.rank() * 2.f);
    }
    EXPECT_THAT(averaged, ElementsAre(false, false, true, false, false, true, false, false, true));
    EXPECT_EQ(averager->step(), 9);
  });
}

TEST(ModelAverager, PrefersTheLargestPeriodOfAHierarchy) {
  const Store store = hash_store();
  run_ranks(4, [&](int rank) {
    std::shared_ptr<ProcessGroup> all = ProcessGroup::create(options_for(rank, 4), store);
    ProcessGroupOptions part = options_for(rank % 2, 2);
    part.name = "pair" + std::to_string(rank / 2);
    std::shared_ptr<ProcessGroup> pair = ProcessGroup::create(part, store);
    const auto averager = hierarchical_model_averager({{2, pair}, {4, all}}, 1);
    std::vector<double> values;
    for (int step = 0; step < 9; ++step) {
      const at::Tensor parameter = of_rank(rank);
      averager->average_parameters({parameter});
      values.push_back(parameter[0][0].item<double>());
    }
    const double own = rank + 1, pairs = rank / 2 * 2 + 1.5;
    EXPECT_THAT(values, ElementsAre(own, own, pairs, own, 2.5, own, pairs, own, 2.5));
    EXPECT_THAT(error_of([&] { hierarchical_model_averager({{4, all}, {2, pair}}); }).what(), HasSubstr("must rise"));
    EXPECT_THAT(error_of([&] { hierarchical_model_averager({}); }).what(), HasSubstr("at least one"));
    EXPECT_THAT(error_of([&] { periodic_model_averager(all, 0); }).what(), HasSubstr("period is 0"));
    all->barrier();
  });
}

TEST(PostLocalSgdOptimizer, AveragesWhatTheOptimizerUnderneathIsGivenLater) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor first = torch::zeros({2}).set_requires_grad(true),
                     later = torch::zeros({3}).set_requires_grad(true);
    const std::shared_ptr<optim::Optimizer> sgd = optim::make_optimizer("SGD", {first}, {{"lr", 1.0}});
    const auto optimizer = post_local_sgd_optimizer(sgd, periodic_model_averager(shared(group), 1, 0));
    sgd->add_group({{later}, {}});
    for (const at::Tensor& parameter : {first, later}) {
      parameter.mutable_grad() = torch::full_like(parameter.detach(), group.rank() + 1);
    }
    optimizer->step();
    EXPECT_TRUE(first.equal(torch::full({2}, -1.5)));
    EXPECT_TRUE(later.equal(torch::full({3}, -1.5)));
    EXPECT_EQ(optimizer->parameters().size(), 2u);
    optimizer->zero_grad();
    EXPECT_FALSE(later.grad().defined());
  });
}

TEST(PostLocalSgdOptimizer, StepsThenAveragesAndKeepsItsStep) {
  run_groups(2, [](ProcessGroup& group) {
    const auto make = [&](const at::Tensor& parameter) {
      std::shared_ptr<optim::Optimizer> sgd =
          optim::make_optimizer("SGD", {parameter}, {{"lr", 0.5}, {"momentum", 0.9}});
      return post_local_sgd_optimizer(sgd, periodic_model_averager(shared(group), 2, 1));
    };
    at::Tensor parameter = torch::zeros({1}, torch::kDouble).set_requires_grad(true);
    const auto optimizer = make(parameter);
    const auto step = [&](optim::Optimizer& which, at::Tensor& p) {
      p.mutable_grad() = torch::full({1}, group.rank() + 1.0, torch::kDouble);
      which.step();
      return p.item<double>();
    };
    EXPECT_EQ(step(*optimizer, parameter), -0.5 * (group.rank() + 1));      // step 0: warm-up
    EXPECT_DOUBLE_EQ(step(*optimizer, parameter), -0.5 * 1.5 * (1 + 1.9));  // step 1: the mean
    EXPECT_EQ(optimizer->get_option("lr").toDouble(), 0.5);

    at::Tensor again = parameter.detach().clone().set_requires_grad(true);
    const auto resumed = make(again);
    resumed->load_state(optimizer->state());
    EXPECT_EQ(step(*resumed, again), step(*optimizer, parameter));
    EXPECT_EQ(step(*resumed, again), step(*optimizer, parameter));
  });
}

// -------------------------------------------------------------------------------------------------------------- ZeRO

const std::vector<std::vector<std::int64_t>> kShapes = {{5, 5}, {3}, {10, 2}, {4}, {1}};

void set_gradients(const std::vector<at::Tensor>& parameters, int step) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].mutable_grad() = gradient(parameters[i].sizes().vec(), static_cast<int>(i), step);
  }
}

class Zero : public ::testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Zero, StepsLikeTheOptimizerUnderneath) {
  const auto& [type, size] = GetParam();
  const std::vector<Option> options = {{"lr", 0.1}};
  const auto expected = parameters_of(kShapes);
  const auto alone = optim::make_optimizer(type, expected, options);
  for (int step = 0; step < 4; ++step) {
    set_gradients(expected, step);
    if (step == 2) alone->set_option({"lr", 0.3});
    alone->step();
  }
  run_groups(size, [&, type = type, size = size](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    ZeroRedundancyOptimizer zero(shared(group), type, parameters, options);
    for (int step = 0; step < 4; ++step) {
      set_gradients(parameters, step);
      if (step == 2) zero.set_option({"lr", 0.3});
      zero.step();
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_TRUE(parameters[i].equal(expected[i])) << i;
    EXPECT_EQ(zero.get_option("lr").toDouble(), 0.3);

    // The state is this rank's share, until one has all.
    const auto whole = alone->state();
    std::size_t share = 0;
    for (const auto& [name, tensor] : whole) share += zero.owners()[std::stoul(name)] == group.rank();
    EXPECT_EQ(zero.state().size(), share);
    if (!whole.empty()) {
      EXPECT_EQ(share<whole.size(), size> 1);
    }
    zero.consolidate_state(size - 1);
    if (group.rank() != size - 1) return;
    const auto consolidated = zero.state();
    ASSERT_EQ(consolidated.size(), whole.size());
    for (const auto& [name, tensor] : whole) {
      const auto found = std::find_if(consolidated.begin(), consolidated.end(),
                                      [&, n = name](const auto& entry) { return entry.first == n; });
      ASSERT_NE(found, consolidated.end()) << name;
      EXPECT_TRUE(found->second.equal(tensor)) << name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Zero,
                         ::testing::Combine(::testing::Values("SGD", "Adam", "AdamW", "Adagrad", "RMSprop"),
                                            ::testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + std::to_string(std::get<1>(info.param));
                         });

TEST(ZeroRedundancyOptimizer, StepsGroupsLikeTheOptimizerUnderneath) {
  const auto groups_of = [](const std::vector<at::Tensor>& p) {
    return std::vector<optim::ParameterGroup>{{{p[0], p[1]}, {{"weight_decay", 0.0}}}, {{p[2]}, {{"lr", 0.7}}}};
  };
  const auto train = [](optim::Optimizer& optimizer, const std::vector<at::Tensor>& p) {
    for (int step = 0; step < 5; ++step) {
      if (step == 2) optimizer.add_group({{p[3], p[4]}, {{"betas", std::vector<double>{0.5, 0.6}}}});
      if (step == 3) optimizer.set_option(2, {"lr", 0.01});
      set_gradients(p, step);
      optimizer.step();
    }
  };
  const std::vector<Option> options = {{"lr", 0.1}, {"weight_decay", 0.3}};
  const auto expected = parameters_of(kShapes);
  const auto alone = optim::make_optimizer("AdamW", groups_of(expected), options);
  train(*alone, expected);
  run_groups(3, [&](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    ZeroRedundancyOptimizer zero(shared(group), "AdamW", groups_of(parameters), options);
    train(zero, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_TRUE(parameters[i].equal(expected[i])) << i;
    EXPECT_EQ(zero.group_count(), 3u);
    EXPECT_EQ(zero.get_option(2, "lr").toDouble(), 0.01);
    EXPECT_EQ(zero.owners().size(), kShapes.size());
    // What one rank may not have is refused on all.
    EXPECT_THAT(error_of([&] { zero.add_group({{parameters[0]}, {}}); }).what(), HasSubstr("a second time"));
    EXPECT_THAT(error_of([&] {
                  zero.add_group({{torch::ones({2})}, {{"momentum", 0.9}}});
                }).what(),
                HasSubstr("'momentum'"));
    EXPECT_EQ(zero.group_count(), 3u);
    zero.consolidate_state(0);
    if (group.rank() == 0) {
      EXPECT_EQ(zero.state().size(), alone->state().size());
    }
  });
}

TEST(ZeroRedundancyOptimizer, DealsOutByElements) {
  run_groups(2, [](ProcessGroup& group) {
    ZeroRedundancyOptimizer zero(shared(group), "SGD", parameters_of(kShapes), {{"lr", 0.1}});
    // 25 and 1 elements, or 20, 4 and 3.
    EXPECT_THAT(zero.owners(), ElementsAre(0, 1, 1, 1, 0));
  });
}

TEST(ZeroRedundancyOptimizer, GoesOnFromAStateOfAnotherNumberOfRanks) {
  const auto expected = parameters_of(kShapes);
  const auto alone = optim::make_optimizer("Adam", expected, {});
  set_gradients(expected, 0);
  alone->step();
  auto state = alone->state();
  for (auto& [name, tensor] : state) tensor = tensor.clone();  // the next step changes it
  std::vector<at::Tensor> values;
  for (const auto& parameter : expected) values.push_back(parameter.detach().clone());
  set_gradients(expected, 1);
  alone->step();
  run_groups(3, [&](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    {
      torch::NoGradGuard no_grad;
      for (std::size_t i = 0; i < values.size(); ++i) at::Tensor(parameters[i]).copy_(values[i]);
    }
    ZeroRedundancyOptimizer zero(shared(group), "Adam", parameters, {});
    zero.load_state(state);
    set_gradients(parameters, 1);
    zero.step();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(parameters[i].equal(expected[i])) << i;
    EXPECT_THAT(error_of([&] { zero.load_state({{"9.step", torch::ones({})}}); }).what(), HasSubstr("'9.step'"));
    EXPECT_THAT(error_of([&] { zero.load_state({{"step", torch::ones({})}}); }).what(), HasSubstr("'step'"));
    EXPECT_THAT(error_of([&] { zero.consolidate_state(3); }).what(), HasSubstr("no rank"));
  });
}

TEST(ZeroRedundancyOptimizer, HasRanksWithoutParameters) {
  run_groups(3, [](ProcessGroup& group) {
    const auto parameters = parameters_of({{4}});
    ZeroRedundancyOptimizer zero(shared(group), "Adam", parameters, {});
    set_gradients(parameters, 0);
    zero.step();
    EXPECT_NE(parameters[0][1].item<double>(), 1.0);
    zero.consolidate_state(2);
    if (group.rank() == 2) {
      EXPECT_FALSE(zero.state().empty());
    }
  });
}

TEST(ZeroRedundancyOptimizer, TakesPartInJoin) {
  // Rank 0 makes two steps, rank 1 five: rank 0 goes on updating its share, with the others' gradients.
  std::vector<at::Tensor> expected;
  const auto target = [](int rank, int step) { return gradient({6, 3}, rank, step); };
  const auto loss = [](const at::Tensor& w, const at::Tensor& v, const at::Tensor& x) {
    return (w * x).sum() + (v * x.sum(0)).pow(2).sum();
  };
  {
    const auto p = parameters_of({{6, 3}, {3}});
    const auto adam = optim::make_optimizer("Adam", p, {{"lr", 0.1}});
    for (int step = 0; step < 5; ++step) {
      for (int rank = step < 2 ? 0 : 1; rank < 2; ++rank) (loss(p[0], p[1], target(rank, step)) / 2).backward();
      adam->step();
      adam->zero_grad();
    }
    for (const auto& one : p) expected.push_back(one.detach());
  }
  run_groups(2, [&](ProcessGroup& group) {
    const auto p = parameters_of({{6, 3}, {3}});
    DataParallelReducer reducer(shared(group), p, {}, {});
    ZeroRedundancyOptimizer zero(shared(group), "Adam", p, {{"lr", 0.1}});
    JoinOptions join;
    join.shadow_step = [&] {
      zero.step();
      zero.zero_grad();
    };
    reducer.begin_join(join);
    for (int step = 0; step < (group.rank() == 0 ? 2 : 5); ++step) {
      reducer.prepare_forward(true);
      std::vector<at::Tensor> out = {loss(p[0], p[1], target(group.rank(), step))};
      reducer.prepare_backward(out);
      out[0].backward();
      zero.step();
      zero.zero_grad();
    }
    reducer.end_join();
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_LT(difference(p[i], expected[i]), 1e-12) << i;
  });
}

}  // namespace
}  // namespace tandem::testing::sharing_test
