#include "elastic/session/parameter_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tandem/elastic.h"
#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CheckpointContent with(double weight, double bias, double running = 0) {
  CheckpointContent content;
  content.replicated["model"] = {{"weight", torch::full({3, 2}, weight, torch::requires_grad())},
                                 {"bias", torch::full({3}, bias, torch::requires_grad())},
                                 {"running_mean", torch::full({3}, running)}};
  return content;
}

std::optional<ParameterHashes::Difference> compared(const std::vector<CheckpointContent>& ranks) {
  std::vector<std::string> encoded;
  for (const auto& rank : ranks) encoded.push_back(ParameterHashes(rank).encode());
  const ParameterHashes first(ranks.front());
  return first.compare(encoded);
}

TEST(ParameterCheck, BuffersMayDiffer) {
  EXPECT_FALSE(compared({with(1, 2, 3), with(1, 2, 4)}));
}

TEST(ParameterCheck, NamesWhoIsNotLikeMost) {
  const auto one = compared({with(1, 2), with(1, 3), with(1, 2)});
  ASSERT_TRUE(one && one->has_majority);
  EXPECT_THAT(one->wrong, ElementsAre(1));
  EXPECT_THAT(one->text, HasSubstr("rank 1 has another 'model.bias' than the 2 others"));
  const auto two = compared({with(7, 2), with(1, 2), with(1, 2), with(8, 9), with(1, 2)});
  ASSERT_TRUE(two && two->has_majority);
  EXPECT_THAT(two->wrong, ElementsAre(0, 3));
  EXPECT_THAT(two->text, HasSubstr("ranks 0 and 3 have another 'model.weight'"));
}

TEST(ParameterCheck, NamesAllWithoutAMajority) {
  for (const auto& ranks : {std::vector{with(1, 2), with(1, 3)}, {with(1, 2), with(1, 2), with(1, 3), with(1, 3)},
                            {with(1, 1), with(1, 2), with(1, 3)}}) {
    const auto found = compared(ranks);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->has_majority);
    EXPECT_EQ(found->wrong.size(), ranks.size());
    EXPECT_THAT(found->text, HasSubstr("differ in 'model.bias'"));
  }
}

TEST(ParameterCheck, TellsBitsApartThatCompareEqual) {
  EXPECT_TRUE(compared({with(0.0, 1), with(-0.0, 1)}));
  EXPECT_FALSE(compared({with(std::nan(""), 1), with(std::nan(""), 1)}));
}

TEST(ParameterCheck, RefusesWhatHasNoParametersAndStepsThatAreNoCommits) {
  CheckpointContent content;
  content.replicated["model"] = {{"weight", torch::ones({2})}};
  EXPECT_THROW(ParameterHashes{content}, Error);
  EXPECT_THROW(Session({.commit_every = 10, .check_every = 15}), Error);
  EXPECT_THROW(Session({.commit_every = 10, .check_every = -10}), Error);
}

}  // namespace
}  // namespace tandem::elastic
