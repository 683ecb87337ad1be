#include "tandem/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "cpp/data/expect_error.h"

namespace tandem::sample_order_test {
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

TEST(Permutation, InverseLeadsBack) {
  for (const std::int64_t n : {1, 2, 3, 10, 1000, 1025}) {
    const Permutation order(n, 11, 4);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(order.inverse(order(i)), i) << n;
  }
}

std::vector<std::int64_t> visited(const SampleOrder& order, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(order.size()));
  order.samples(seed, epoch, 0, samples);
  return samples;
}

TEST(SampleOrder, GivesAnyPartOfItself) {
  for (const auto& order : {sequential_order(103), shuffled_order(103), block_shuffled_order(103, 10, 3)}) {
    const auto whole = visited(*order, 5, 2);
    for (std::int64_t first = 0; first < 103; first += 7) {
      for (const std::int64_t count : {0, 1, 20, 103}) {
        std::vector<std::int64_t> part(static_cast<std::size_t>(std::min<std::int64_t>(count, 103 - first)));
        order->samples(5, 2, first, part);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << order->name();
      }
    }
  }
}

TEST(SampleOrder, ShuffleIsThePermutation) {
  EXPECT_EQ(visited(*shuffled_order(1000), 5, 2), all_of(1000, 5, 2));
}

TEST(BlockShuffle, VisitsEverySampleOnceWhateverTheSizes) {
  for (std::int64_t samples = 0; samples <= 60; ++samples) {
    for (const std::int64_t block : {1, 2, 7, 10, 1000}) {
      for (const std::int64_t window : {1, 2, 3, 1000}) {
        const auto order = block_shuffled_order(samples, block, window);
        for (const std::int64_t epoch : {0, 1, 2}) {
          ASSERT_TRUE(is_permutation_of_all(visited(*order, 3, epoch)))
              << samples << " in blocks of " << block << ", window " << window;
        }
      }
    }
  }
}

// Blocks are left for good before others are begun: at any position the samples in use are of one window.
TEST(BlockShuffle, KeepsToAWindowOfBlocks) {
  constexpr std::int64_t block = 10, window = 4;
  for (const std::int64_t samples : {400, 397}) {
    const auto order = block_shuffled_order(samples, block, window);
    const auto all = visited(*order, 8, 1);
    EXPECT_NE(all, visited(*order, 8, 2));
    EXPECT_NE(all, visited(*order, 9, 1));
    std::size_t at = 0;
    std::vector<std::int64_t> seen_blocks;
    while (at < all.size()) {
      std::set<std::int64_t> blocks;
      std::size_t size = 0;  // samples of the next `window` blocks, as they come
      std::size_t end = at;
      do {
        if (blocks.insert(all[end] / block).second) {
          size += static_cast<std::size_t>(std::min(block, samples - all[end] / block * block));
        }
        ++end;
      } while (end < all.size() && end - at < size);
      EXPECT_LE(blocks.size(), static_cast<std::size_t>(window));
      seen_blocks.insert(seen_blocks.end(), blocks.begin(), blocks.end());
      at = end;
    }
    EXPECT_TRUE(is_permutation_of_all(seen_blocks));
    EXPECT_FALSE(std::is_sorted(seen_blocks.begin(), seen_blocks.end()));
    // Samples of a window come mixed.
    int neighbours = 0;
    for (std::size_t i = 1; i < all.size(); ++i) neighbours += all[i] == all[i - 1] + 1;
    EXPECT_LT(neighbours, 60);
  }
}

// Checkpoints name a place in an epoch by its position: these numbers must never change.
TEST(BlockShuffle, IsFrozen) {
  EXPECT_EQ(visited(*block_shuffled_order(11, 3, 2), 1, 2),
            (std::vector<std::int64_t>{9, 3, 10, 4, 5, 2, 6, 7, 1, 8, 0}));
}

TEST(BlockShuffle, HugeOnesTakeNoMemory) {
  constexpr std::int64_t samples = 10'000'000'000;
  const auto order = block_shuffled_order(samples, 4096, 64);
  std::set<std::int64_t> seen;
  for (const std::int64_t first : {std::int64_t{0}, samples / 2, samples - 1000}) {
    std::vector<std::int64_t> part(1000);
    order->samples(1, 1, first, part);
    for (const std::int64_t sample : part) {
      ASSERT_GE(sample, 0);
      ASSERT_LT(sample, samples);
      seen.insert(sample);
    }
  }
  EXPECT_EQ(seen.size(), 3000u);
}

TEST(BlockShuffle, RefusesWhatCannotBe) {
  EXPECT_ERROR(block_shuffled_order(10, 0, 1), ErrorCode::kInvalidArgument, "block is 0");
  EXPECT_ERROR(block_shuffled_order(10, 1, -2), ErrorCode::kInvalidArgument, "window is -2");
}

TEST(SampleRandomness, DependsOnAllThatItIsOf) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      for (std::int64_t sample = 0; sample < 10; ++sample) seen.insert(sample_randomness(seed, epoch, sample));
    }
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(sample_randomness(1, 2, 3), 10530651154998451608u);  // frozen
}

}  // namespace
}  // namespace tandem::sample_order_test
