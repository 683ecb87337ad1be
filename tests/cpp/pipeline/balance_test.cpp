// Cuts of layers by their times.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tandem/error.h"
#include "tandem/pipeline_balance.h"

namespace tandem::testing::pipeline_balance_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The slowest stage, and the sum of squares.
std::pair<double, double> cost_of(const std::vector<double>& times, const std::vector<std::size_t>& first) {
  double slowest = 0, squares = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : times.size();
    double sum = 0;
    for (std::size_t layer = first[i]; layer < end; ++layer) sum += times[layer];
    slowest = std::max(slowest, sum);
    squares += sum * sum;
  }
  return {slowest, squares};
}

// All cuts, one after the other.
std::pair<double, double> best_of(const std::vector<double>& times, int stages) {
  std::pair<double, double> best = {INFINITY, INFINITY};
  std::vector<std::size_t> first = {0};
  const std::function<void()> extend = [&] {
    if (first.size() == static_cast<std::size_t>(stages)) {
      best = std::min(best, cost_of(times, first));
      return;
    }
    for (std::size_t next = first.back() + 1; next < times.size(); ++next) {
      first.push_back(next);
      extend();
      first.pop_back();
    }
  };
  extend();
  return best;
}

TEST(BalanceStages, AsGoodAsTheBestOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> times(1 + random() % 9);
    for (double& time : times) time = static_cast<double>(random() % 8);  // 0 too, and the same ones
    for (int stages = 1; stages <= static_cast<int>(std::min<std::size_t>(times.size(), 4)); ++stages) {
      const auto first = balance_stages(times, stages);
      ASSERT_EQ(first.size(), static_cast<std::size_t>(stages));
      ASSERT_EQ(first.front(), 0u);
      ASSERT_TRUE(std::ranges::is_sorted(first, std::ranges::less_equal()));
      EXPECT_EQ(cost_of(times, first), best_of(times, stages)) << ::testing::PrintToString(times) << " in " << stages;
    }
  }
}

TEST(BalanceStages, InAnyUnit) {
  EXPECT_THAT(balance_stages({1e308, 1e308, 1, 1}, 3), ElementsAre(0, 1, 2));
  for (const double unit : {1e-320, 1e-200, 1.0, 1e200, 1e307}) {
    EXPECT_THAT(balance_stages({3 * unit, 1 * unit, 1 * unit, 2 * unit, 1 * unit}, 3), ElementsAre(0, 1, 3)) << unit;
  }
  EXPECT_THAT(balance_stages({0, 0, 0}, 3), ElementsAre(0, 1, 2));
}

TEST(BalanceStages, RefusesWhatCannotBeCut) {
  EXPECT_THAT(balance_stages({5, 5, 1}, 3), ElementsAre(0, 1, 2));
  const auto said = [](const std::vector<double>& times, int stages) -> std::string {
    try {
      balance_stages(times, stages);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said({1, 2}, 3), HasSubstr("2 layers does not divide into 3 stages"));
  EXPECT_THAT(said({1, 2}, 0), HasSubstr("0 stages"));
  EXPECT_THAT(said({1, -2}, 1), HasSubstr("a layer takes -2"));
  EXPECT_THAT(said({1, NAN}, 1), HasSubstr("give times of 0 or more"));
}

}  // namespace
}  // namespace tandem::testing::pipeline_balance_test
