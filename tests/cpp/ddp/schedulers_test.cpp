// Schedulers on optimizers that several ranks share: the rates reach what steps, and states go on where they were.
#include <gmock/gmock.h>

#include "cpp/ddp/gradients.h"
#include "tandem/lr_scheduler.h"
#include "tandem/model_averaging.h"
#include "tandem/zero.h"

namespace tandem::testing::schedulers_test {
namespace {

using optim::LrScheduler;
using ::testing::HasSubstr;

const std::vector<std::vector<std::int64_t>> kShapes = {{5, 5}, {3}, {10, 2}};
constexpr int kSteps = 6;

// Momentums cycle too; the second group has one parameter, so that of three ranks two have none of it.
const std::vector<Option> kOptions = {{"lr", 0.1}};
std::vector<optim::ParameterGroup> groups_of(const std::vector<at::Tensor>& p) {
  return {{{p[0], p[1]}, {}}, {{p[2]}, {{"lr", 0.3}}}};
}

// One after the other, as they begin anew.
std::shared_ptr<LrScheduler> schedule(const std::shared_ptr<optim::Optimizer>& optimizer) {
  const auto warmup = optim::make_lr_scheduler("LinearLR", optimizer, {{"total_iters", 2}});
  const auto cycle = optim::make_lr_scheduler(
      "CyclicLR", optimizer, {{"base_lr", 0.01}, {"max_lr", std::vector<double>{0.1, 0.4}}, {"step_size_up", 2}});
  return optim::make_sequential_lr(optimizer, {warmup, cycle}, {3});
}

void step(optim::Optimizer& optimizer, LrScheduler& scheduler, const std::vector<at::Tensor>& parameters, int number) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].mutable_grad() = gradient(parameters[i].sizes().vec(), static_cast<int>(i), number);
  }
  optimizer.step();
  scheduler.step();
}

// What one process gets.
struct Alone {
  std::vector<at::Tensor> parameters = parameters_of(kShapes);
  std::shared_ptr<optim::Optimizer> optimizer = optim::make_optimizer("AdamW", groups_of(parameters), kOptions);
  std::shared_ptr<LrScheduler> scheduler = schedule(optimizer);

  Alone() {
    for (int number = 0; number < kSteps; ++number) step(*optimizer, *scheduler, parameters, number);
  }
};

void expect_same(const optim::Optimizer& ours, const LrScheduler& scheduler, const std::vector<at::Tensor>& parameters,
                 const Alone& alone) {
  EXPECT_EQ(scheduler.last_lr(), alone.scheduler->last_lr());
  for (const char* name : {"lr", "beta1"}) {
    for (const std::size_t group : {0, 1}) {
      EXPECT_EQ(ours.get_option(group, name).toDouble(), alone.optimizer->get_option(group, name).toDouble()) << name;
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_TRUE(parameters[i].equal(alone.parameters[i])) << i;
}

TEST(ZeroRedundancyOptimizer, StepsByAScheduleAsOneProcessDoes) {
  const Alone alone;
  run_groups(3, [&](ProcessGroup& group) {
    const auto parameters = parameters_of(kShapes);
    const auto make = [&] {
      return std::make_shared<ZeroRedundancyOptimizer>(shared(group), "AdamW", groups_of(parameters), kOptions);
    };
    auto zero = make();
    std::shared_ptr<LrScheduler> scheduler = schedule(zero);
    for (int number = 0; number < kSteps; ++number) {
      if (number == 4) {  // goes on from what was saved, in the middle of the second scheduler
        const auto schedule_state = scheduler->state();
        std::vector<std::pair<std::string, at::Tensor>> state;
        for (int rank = 0; rank < group.size(); ++rank) {  // each rank needs the whole
          zero->consolidate_state(rank);
          if (rank == group.rank()) state = zero->state();
        }
        zero = make();
        scheduler = schedule(zero);
        zero->load_state(state);
        scheduler->load_state(schedule_state);
      }
      step(*zero, *scheduler, parameters, number);
    }
    expect_same(*zero, *scheduler, parameters, alone);
  });
}

TEST(ZeroRedundancyOptimizer, RefusesWhatLooksAtAllParameters) {
  run_groups(2, [](ProcessGroup& group) {
    EXPECT_THAT(error_of([&] { ZeroRedundancyOptimizer(shared(group), "LBFGS", parameters_of(kShapes), {}); }).what(),
                HasSubstr("looks at all parameters together"));
  });
}

// Gradients are alike on all ranks, so that averaging changes nothing but what a wrong rate would part.
TEST(PostLocalSgdOptimizer, StepsByAScheduleOfItselfOrOfTheOneUnderneath) {
  const Alone alone;
  run_groups(2, [&](ProcessGroup& group) {
    for (const bool underneath : {false, true}) {
      SCOPED_TRACE(underneath);
      const auto parameters = parameters_of(kShapes);
      const std::shared_ptr<optim::Optimizer> adam = optim::make_optimizer("AdamW", groups_of(parameters), kOptions);
      const std::shared_ptr<optim::Optimizer> local =
          post_local_sgd_optimizer(adam, periodic_model_averager(shared(group), 2, 0));
      const auto scheduler = schedule(underneath ? adam : local);
      for (int number = 0; number < kSteps; ++number) step(*local, *scheduler, parameters, number);
      expect_same(*local, *scheduler, parameters, alone);
    }
  });
}

TEST(PostLocalSgdOptimizer, AveragesAfterAStepWithAClosure) {
  run_groups(2, [](ProcessGroup& group) {
    const at::Tensor x = torch::full({1}, 4.0 * (group.rank() + 1), torch::kDouble).set_requires_grad(true);
    const std::shared_ptr<optim::Optimizer> lbfgs = optim::make_optimizer("LBFGS", {x}, {{"max_iter", 1}, {"lr", 0.5}});
    const auto local = post_local_sgd_optimizer(lbfgs, periodic_model_averager(shared(group), 1, 0));
    // Of slope 1: the first step is half of it.
    const at::Tensor loss = local->step([&] {
      local->zero_grad();
      const at::Tensor sum = x.sum();
      sum.backward();
      return sum;
    });
    EXPECT_EQ(loss.item<double>(), 4.0 * (group.rank() + 1));
    EXPECT_EQ(x.item<double>(), 5.5);
  });
}

}  // namespace
}  // namespace tandem::testing::schedulers_test
