// Saves beside training.
#include <algorithm>

#include "cpp/checkpoint/contents.h"
#include "cpp/comm/threads.h"

namespace tandem::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CheckpointAsync, SavesWhatWasThereWhenItWasCalled) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run", {.keep = 0});
  const at::Tensor large = torch::zeros({1 << 20});
  const at::Tensor strided = torch::zeros({3, 4}).t();
  for (int step = 0; step < 5; ++step) {
    checkpoints.save_async(step, {.replicated = {{"model", {{"large", large}, {"strided", strided}}}}});
    large.add_(1);  // training goes on
    strided.add_(1);
  }
  checkpoints.wait();
  EXPECT_FALSE(checkpoints.saving());
  for (int step = 0; step < 5; ++step) {
    const auto read = checkpoints.load({.step = step});
    for (const auto& [name, tensor] : read->sections.at("model")) {
      EXPECT_TRUE(at::equal(tensor, torch::full_like(tensor, step))) << name << " of " << step;
    }
  }
}

TEST(CheckpointAsync, TensorsMayComeGoAndChange) {
  const TemporaryFolder folder;
  CheckpointFolder checkpoints(folder / "run", {.keep = 0});
  const std::vector<NamedTensors> contents{{{"a", torch::ones({2})}},
                                           {{"a", torch::ones({3})}, {"b", torch::ones({2})}},
                                           {{"a", torch::ones({3}, torch::kLong)}},
                                           {{"b", torch::ones({2}) * 2}, {"a", torch::ones({3}, torch::kLong)}}};
  for (std::size_t step = 0; step < contents.size(); ++step) {
    checkpoints.save_async(static_cast<std::int64_t>(step), {.replicated = {{"model", contents[step]}}});
  }
  for (std::size_t step = 0; step < contents.size(); ++step) {
    const auto read = checkpoints.load({.step = static_cast<std::int64_t>(step)});
    const NamedTensors& back = read->sections.at("model");
    ASSERT_EQ(back.size(), contents[step].size());
    for (const auto& [name, tensor] : contents[step]) {
      const auto found = std::find_if(back.begin(), back.end(), [&](const auto& each) { return each.first == name; });
      ASSERT_NE(found, back.end());
      EXPECT_TRUE(at::equal(found->second, tensor)) << name << " of " << step;
    }
  }
}

TEST(CheckpointAsync, AFailureIsTheNextCallsOnce) {
  const TemporaryFolder folder;
  write(folder / "file", "x");
  CheckpointFolder checkpoints(folder / "file");
  checkpoints.save_async(1, content_of(1));
  EXPECT_THAT(error_of([&] { checkpoints.save_async(2, content_of(2)); }).what(), HasSubstr("step-000000001"));
  EXPECT_FALSE(checkpoints.saving());
  checkpoints.wait();
  checkpoints.save_async(3, content_of(3));
  EXPECT_THAT(error_of([&] { checkpoints.save(4, content_of(4)); }).what(), HasSubstr("step-000000003"));
  std::filesystem::remove(folder / "file");
  checkpoints.save(4, content_of(4));
  EXPECT_THAT(checkpoints.steps(), ElementsAre(4));
}

TEST(CheckpointAsync, TheObjectsEndWaitsForTheSave) {
  const TemporaryFolder folder;
  {
    CheckpointFolder checkpoints(folder / "run");
    checkpoints.save_async(1, {.replicated = {{"model", {{"large", torch::ones({1 << 22})}}}}});
  }
  EXPECT_EQ(CheckpointFolder(folder / "run").load()->step, 1);
}

// Ranks' own collectives go on meanwhile, in an order that has nothing to do with the save's.
TEST(CheckpointAsync, RanksTrainMeanwhile) {
  const TemporaryFolder folder;
  run_groups(2, [&](ProcessGroup& given) {
    const std::shared_ptr<ProcessGroup> group(&given, [](auto*) {});
    CheckpointFolder checkpoints(folder / "run", {.keep = 0, .group = group});
    for (int step = 0; step < 5; ++step) {
      checkpoints.save_async(step, content_of(step));
      for (int i = 0; i < 20; ++i) {
        at::Tensor sum = torch::ones({100});
        group->all_reduce(sum);
        EXPECT_EQ(sum[99].item<double>(), 2);
      }
    }
    checkpoints.wait();
    for (int step = 0; step < 5; ++step) expect_content_of(step, *checkpoints.load({.step = step}));
  });
}

}  // namespace
}  // namespace tandem::testing
