// Commits that are copied beside training, while optimizers change what is copied.
#include "elastic/session/commits.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tandem/optim.h"

namespace tandem::elastic {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 22;  // elements

// A model of one large and one small parameter, which a step makes smaller by one.
struct Model {
  at::Tensor large = at::zeros({kLarge});
  at::Tensor small = at::zeros({4});
  std::unique_ptr<optim::Optimizer> optimizer;

  Model() {
    for (at::Tensor* each : {&large, &small}) each->requires_grad_(true);
    optimizer = optim::make_optimizer("SGD", {large, small}, {{"lr", 1.0}});
  }
  void step() {
    for (at::Tensor* each : {&large, &small}) each->mutable_grad() = at::ones_like(*each);
    optimizer->step();
  }
  CheckpointContent content() const { return {.replicated = {{"model", {{"large", large}, {"small", small}}}}}; }
};

void expect_all(const Commit& commit, std::int64_t step, double value) {
  EXPECT_EQ(commit.step, step);
  for (const auto& [name, tensor] : commit.content.replicated.at("model")) {
    EXPECT_EQ(tensor.min().item<double>(), value) << name;
    EXPECT_EQ(tensor.max().item<double>(), value) << name;
  }
}

TEST(Commits, AStepRightAfterwardsDoesNotReachThem) {
  Model model;
  Commits commits;
  commits.take(model.content(), 0);
  EXPECT_EQ(commits.beside(), 0);  // who knows whose optimizer will step
  for (std::int64_t step = 1; step <= 20; ++step) {
    model.step();
    commits.take(model.content(), step);
    model.step();  // at once
    expect_all(commits.last(), step, 1 - 2.0 * static_cast<double>(step));
    commits.take(model.content(), step);
  }
  EXPECT_GE(commits.beside(), 20);
}

TEST(Commits, WhatDoesNotCountLeavesTheOneBefore) {
  Model model;
  Commits commits;
  commits.take(model.content(), 0);
  model.step();
  const auto refuse = [] { throw std::runtime_error("a collective failed"); };
  EXPECT_THROW(commits.take(model.content(), 1, refuse), std::runtime_error);
  expect_all(commits.last(), 0, 0);
}

TEST(Commits, WhatOthersChangeMeanwhileLeavesTheOneBefore) {
  Model model;
  Commits commits;
  commits.take(model.content(), 0);
  model.step();
  {
    const at::NoGradGuard no_grad;
    // As often as it takes to come while it is copied.
    for (int i = 0; i < 200; ++i) {
      commits.take(model.content(), 1);
      model.large.sub_(1);
      model.small.sub_(1);
      const Commit& last = commits.last();
      const auto& named = last.content.replicated.at("model");
      const at::Tensor &large = named[0].second, &small = named[1].second;
      // All of one moment.
      ASSERT_EQ(large.min().item<float>(), large.max().item<float>());
      ASSERT_EQ(large[0].item<float>(), small[0].item<float>());
      if (commits.beside() == 0) break;
      model.step();
    }
  }
  // From then on all is copied at once.
  const std::int64_t before = commits.beside();
  model.step();
  commits.take(model.content(), 2);
  EXPECT_EQ(commits.last().step, 2);
  EXPECT_LE(commits.beside(), before + 1);
}

TEST(Commits, OneThatCannotBeMadeLeavesTheLast) {
  Model model;
  Commits commits;
  model.step();
  commits.take(model.content(), 3);
  EXPECT_THROW(commits.replace([&](checkpoint::Staging& staging, const Commit& last) -> Commit {
    const CheckpointContent place = staging.place(last.content);
    for (const auto& [name, tensor] : place.replicated.at("model")) tensor.fill_(7);  // it has begun to arrive
    throw std::runtime_error("the sender is lost");
  }),
               std::runtime_error);
  expect_all(commits.last(), 3, -1);
}

TEST(Commits, StepsOfOtherOptimizersAreNoReasonToWait) {
  Model model;
  Commits commits;
  commits.take(model.content(), 0);
  // No optimizer of ours steps: all is copied at once.
  commits.take(model.content(), 1);
  commits.take(model.content(), 2);
  EXPECT_EQ(commits.beside(), 0);
  model.step();
  commits.take(model.content(), 3);
  EXPECT_EQ(commits.beside(), 1);
  // One of three steps was ours.
  model.step();
  commits.take(model.content(), 6);
  EXPECT_EQ(commits.beside(), 1);
}

}  // namespace
}  // namespace tandem::elastic
