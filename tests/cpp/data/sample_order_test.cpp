#include "tandem/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace tandem {
namespace {

std::vector<std::int64_t> all_of(std::int64_t n, std::uint64_t seed, std::uint64_t epoch) {
  const Permutation order(n, seed, epoch);
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = order(i);
  return values;
}

bool is_permutation_of_all(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

TEST(Permutation, IsABijectionForEverySize) {
  for (std::int64_t n = 1; n <= 600; ++n) {
    for (const std::uint64_t seed : {0ull, 1ull, ~0ull}) ASSERT_TRUE(is_permutation_of_all(all_of(n, seed, 3))) << n;
  }
  for (const std::int64_t n : {1023, 1024, 1025, 60000, 65535, 65537, 1000003}) {
    ASSERT_TRUE(is_permutation_of_all(all_of(n, 42, 7))) << n;
  }
}

TEST(Permutation, ReachesEveryRegionOfHugeRanges) {
  const std::int64_t n = (std::int64_t{1} << 40) + 12345;
  const Permutation order(n, 1, 1);
  std::set<std::int64_t> seen;
  std::vector<int> tenths(10);
  for (std::int64_t i = 0; i < 20000; ++i) {
    const std::int64_t value = order(n - 1 - i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, n);
    seen.insert(value);
    ++tenths[static_cast<std::size_t>(value / (n / 10 + 1))];
  }
  EXPECT_EQ(seen.size(), 20000u);
  for (const int count : tenths) EXPECT_NEAR(count, 2000, 250);
}

// Checkpoints name a place in an epoch by its position: these numbers must never change.
TEST(Permutation, IsFrozen) {
  EXPECT_EQ(all_of(10, 0, 0), (std::vector<std::int64_t>{1, 7, 4, 5, 9, 8, 2, 6, 3, 0}));
  EXPECT_EQ(all_of(10, 1, 2), (std::vector<std::int64_t>{1, 8, 4, 9, 6, 0, 7, 3, 2, 5}));
  EXPECT_EQ(Permutation(60000, 123, 4)(59999), 4567);
}

TEST(Permutation, DependsOnSeedAndEpoch) {
  const auto base = all_of(1000, 5, 5);
  EXPECT_EQ(all_of(1000, 5, 5), base);
  EXPECT_NE(all_of(1000, 6, 5), base);
  EXPECT_NE(all_of(1000, 5, 6), base);
  // Neither are neighbouring seeds or epochs shifted copies, nor do they cancel out.
  EXPECT_NE(all_of(1000, 6, 4), base);
}

// Over many epochs every sample comes to every position about equally often, and neighbours part.
TEST(Permutation, LooksUniform) {
  constexpr int n = 10, epochs = 20000;
  std::vector<std::vector<int>> counts(n, std::vector<int>(n));
  int neighbours = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = all_of(n, 9, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = 0; i < n; ++i) {
      ++counts[i][static_cast<std::size_t>(order[i])];
      if (i > 0) neighbours += std::abs(order[i] - order[i - 1]) == 1;
    }
  }
  double chi_squared = 0;
  const double expected = epochs / double{n};
  for (const auto& row : counts) {
    for (const int count : row) chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 160);  // 81 degrees of freedom: mean 81, standard deviation 13
  // 2/n of the n-1 pairs of a uniform permutation are neighbours.
  EXPECT_NEAR(neighbours / double{epochs}, 2.0 * (n - 1) / n, 0.06);
}

TEST(StaticPartition, TilesTheEpoch) {
  for (const std::int64_t samples : {0, 1, 7, 64, 100, 101}) {
    for (const std::int64_t world : {1, 2, 3, 5}) {
      std::vector<int> taken(static_cast<std::size_t>(samples));
      std::int64_t padded = 0;
      for (std::int64_t rank = 0; rank < world; ++rank) {
        const StaticPartition part(samples, 4, rank, world, false);
        for (std::int64_t b = 0; b < part.batches(); ++b) {
          const auto slice = part.slice(b);
          for (std::int64_t p = slice.begin; p < slice.begin + slice.size; ++p) {
            if (p < samples)
              ++taken[static_cast<std::size_t>(p)];
            else
              ++padded;
          }
        }
      }
      EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](int count) { return count == 1; }));
      EXPECT_LT(padded, world);
    }
  }
}

}  // namespace
}  // namespace tandem
