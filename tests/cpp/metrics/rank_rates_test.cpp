#include "metrics/job/rank_rates.h"

#include <gtest/gtest.h>

namespace tandem::metrics {
namespace {

constexpr std::int64_t kSecond = 1000000000;

Measured at(double seconds, std::int64_t step, std::int64_t samples = -1, std::optional<double> wait = {}) {
  Measured measured;
  measured.step = step;
  measured.samples = samples;
  measured.wait_seconds = wait;
  measured.reported_at = static_cast<std::int64_t>(seconds * 1e9);
  return measured;
}

TEST(RankRates, AreOfTheLastTenSeconds) {
  RankRates rates;
  EXPECT_FALSE(rates.steps_per_second());
  // 4 steps a second, and from 100 s on 2.
  std::int64_t step = 0;
  for (int second = 1; second <= 200; ++second) {
    step += second <= 100 ? 4 : 2;
    rates.look(at(second, step, 10 * step, 0.25 * second), second * kSecond);
    if (second == 100) {
      EXPECT_DOUBLE_EQ(rates.steps_per_second().value(), 4);
    }
  }
  EXPECT_DOUBLE_EQ(rates.steps_per_second().value(), 2);
  EXPECT_DOUBLE_EQ(rates.samples_per_second().value(), 20);
  EXPECT_DOUBLE_EQ(rates.wait_share().value(), 0.25);
}

TEST(RankRates, AreOfTwoReportsWhereStepsAreLong) {
  RankRates rates;
  for (int second = 1; second <= 100; ++second) rates.look(at(second / 30 * 30 + 1, second / 30), second * kSecond);
  EXPECT_NEAR(rates.steps_per_second().value(), 1.0 / 30, 0.01);
}

TEST(RankRates, FallOnceAReportIsOverdue) {
  RankRates rates;
  for (int second = 1; second <= 11; ++second) rates.look(at(second, 10 * second), second * kSecond);
  EXPECT_DOUBLE_EQ(rates.steps_per_second().value(), 10);
  for (int second = 12; second <= 100; ++second) rates.look(at(11, 110), second * kSecond);
  EXPECT_LT(rates.steps_per_second().value(), 2);
}

TEST(RankRates, BeginAnewWhereStepsGoBack) {
  RankRates rates;
  for (int second = 1; second <= 5; ++second) rates.look(at(second, 10 * second, 10), second * kSecond);
  rates.look(at(6, 20, 10), 6 * kSecond);  // at the last commit
  rates.look(at(7, 22, 10), 7 * kSecond);
  EXPECT_DOUBLE_EQ(rates.steps_per_second().value(), 2);
}

}  // namespace
}  // namespace tandem::metrics
