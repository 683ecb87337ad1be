// How the quickest of several bucket sizes is found, with made-up times.
#include "ddp/bucket_advisor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

namespace tandem::testing::bucket_advisor_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Layout = BucketAdvisor::Layout;

std::vector<Layout> layouts_of(const std::vector<double>& sizes) {
  std::vector<Layout> layouts;
  for (const double size : sizes) layouts.push_back({size, 0, 0, {{static_cast<std::size_t>(size)}}});
  return layouts;
}

std::vector<double> alone(std::vector<double> mine) {
  return mine;
}

BucketTrialOptions with(int iterations, int rounds) {
  BucketTrialOptions options;
  options.iterations = iterations;
  options.rounds = rounds;
  return options;
}

// What a trial came to: the size that is kept, and how many iterations each was used for.
struct Outcome {
  double kept = 0;
  std::map<double, int> used;
  int iterations = 0;
};

// `step(size, iteration)` is what an iteration takes.
Outcome run(BucketAdvisor& advisor, const std::function<std::int64_t(double, int)>& step) {
  Outcome outcome;
  outcome.kept = advisor.first().size_mb;
  for (; !advisor.done() && outcome.iterations < 10000; ++outcome.iterations) {
    ++outcome.used[outcome.kept];
    const Layout* next = advisor.after(step(outcome.kept, outcome.iterations));
    if (next) {
      EXPECT_NE(next->size_mb, outcome.kept);
      outcome.kept = next->size_mb;
    }
  }
  EXPECT_TRUE(advisor.done());
  EXPECT_EQ(advisor.after(1), nullptr);
  return outcome;
}

TEST(BucketAdvisor, KeepsTheQuickest) {
  for (const double best : {0.0, 1.0, 5.0, 25.0}) {
    BucketAdvisor advisor(layouts_of({0, 1, 5, 25}), with(4, 3), alone);
    const Outcome outcome = run(advisor, [&](double size, int) { return 1000 + std::int64_t(std::abs(size - best)); });
    EXPECT_EQ(outcome.kept, best);
    EXPECT_EQ(outcome.iterations, 4 * 3 * 6);
    for (const BucketTrial& trial : advisor.trials()) {
      EXPECT_EQ(trial.step, 1000 + std::int64_t(std::abs(trial.bucket_cap_mb - best)));
      EXPECT_EQ(trial.buckets, 1);
    }
  }
}

TEST(BucketAdvisor, GivesUpWhatIsClearlySlower) {
  BucketAdvisor advisor(layouts_of({0, 1, 5}), with(2, 3), alone);
  const Outcome outcome = run(advisor, [](double size, int) { return size == 0 ? 2000 : 1000 + std::int64_t(size); });
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.used.at(0), 4);
  EXPECT_EQ(outcome.used.at(1), 12);
  EXPECT_EQ(outcome.used.at(5), 12);
  BucketAdvisor clear(layouts_of({0, 1}), with(2, 3), alone);
  EXPECT_EQ(run(clear, [](double size, int) { return size == 0 ? 1000 : 2000; }).iterations, 8);
}

TEST(BucketAdvisor, GivesUpWhatIsALittleSlowerOnceItIsSure) {
  BucketAdvisor advisor(layouts_of({0, 1, 5}), with(2, 6), alone);
  const Outcome outcome = run(advisor, [](double size, int) { return size == 0 ? 1000 : size == 1 ? 1100 : 1020; });
  EXPECT_EQ(outcome.kept, 0);
  EXPECT_EQ(outcome.used.at(1), 2 * 4);
  EXPECT_EQ(outcome.used.at(5), 6 * 4);
}

// Iterations after a change do not count, nor does what disturbs a few, nor that all becomes slower.
TEST(BucketAdvisor, IsNotMisledByDisturbances) {
  int since = 0;
  double last = -1;
  BucketAdvisor advisor(layouts_of({0, 1, 5, 25}), with(5, 4), alone);
  const Outcome outcome = run(advisor, [&](double size, int iteration) -> std::int64_t {
    since = size == last ? since + 1 : 0;
    last = size;
    if (since < 2 && size == 5) return 1000000;
    if (since == 3 && size == 5) return 50000;
    return (size == 5 ? 1000 : 1020) + iteration / 10;
  });
  EXPECT_EQ(outcome.kept, 5);
}

TEST(BucketAdvisor, HasNothingToTryWithOneSize) {
  BucketAdvisor advisor(layouts_of({25}), with(4, 3), alone);
  EXPECT_TRUE(advisor.done());
  EXPECT_EQ(advisor.first().size_mb, 25);
}

// Ranks may measure the opposite of each other; what counts is the mean.
TEST(BucketAdvisor, DecidesByTheMeanOverRanks) {
  std::vector<std::vector<double>> given;
  BucketAdvisor advisor(layouts_of({0, 1}), with(3, 1), [&](std::vector<double> mine) {
    given.push_back(mine);
    return std::vector<double>{900, 950};
  });
  EXPECT_EQ(run(advisor, [](double size, int) { return size == 0 ? 1200 : 1000; }).kept, 0);
  EXPECT_THAT(given, ElementsAre(ElementsAre(1200, 1000)));
}

}  // namespace
}  // namespace tandem::testing::bucket_advisor_test
