#include "tandem/samplers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cpp/data/expect_error.h"

namespace tandem::samplers_test {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;
using Ids = std::vector<std::int64_t>;
using Order = std::shared_ptr<const SampleOrder>;

Ids epoch_of(const Order& order, std::uint64_t seed = 1, std::int64_t epoch = 0) {
  Ids samples(static_cast<std::size_t>(order->size()));
  order->samples(seed, epoch, 0, samples);
  return samples;
}

// Entered anywhere it is the same; and another epoch or seed is another.
void expect_function_of_position(const Order& order) {
  const Ids all = epoch_of(order);
  EXPECT_NE(all, epoch_of(order, 1, 1));
  EXPECT_NE(all, epoch_of(order, 2, 0));
  for (const std::size_t first : {std::size_t{0}, all.size() / 3, all.size() - 1}) {
    for (const std::size_t count : {std::size_t{1}, all.size() - first}) {
      Ids some(count);
      order->samples(1, 0, static_cast<std::int64_t>(first), some);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(first))) << first;
    }
  }
}

TEST(Weighted, DrawsByWeight) {
  const auto order = weighted_order({1, 0, 3, 4, 0}, 8000);
  expect_function_of_position(order);
  std::map<std::int64_t, int> times;
  for (const std::int64_t sample : epoch_of(order)) ++times[sample];
  EXPECT_EQ(times.size(), 3u);
  // Five standard deviations.
  EXPECT_NEAR(times[0], 1000, 150);
  EXPECT_NEAR(times[2], 3000, 220);
  EXPECT_NEAR(times[3], 4000, 225);
  EXPECT_NE(order->name(), weighted_order({1, 0, 3, 5, 0}, 8000)->name());
}

TEST(Weighted, WithoutReplacementDrawsEachOnce) {
  std::vector<double> weights(200, 1);
  for (std::size_t i = 0; i < 100; ++i) weights[i] = 9;
  weights[5] = 0;
  const auto all = weighted_order_without_replacement(weights, 199);
  expect_function_of_position(all);
  const Ids samples = epoch_of(all);
  EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), 199u);
  EXPECT_EQ(std::count(samples.begin(), samples.end(), 5), 0);
  // The first are as those drawn with replacement: nine of ten are heavy, over many seeds.
  const auto first = weighted_order_without_replacement(weights, 1);
  int heavy = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) heavy += epoch_of(first, seed)[0] < 100;
  EXPECT_NEAR(heavy, 899, 48);
  EXPECT_EQ(epoch_of(weighted_order_without_replacement(weights, 10)), Ids(samples.begin(), samples.begin() + 10));
}

TEST(Weighted, RefusesWhatCannotBe) {
  EXPECT_ERROR(weighted_order({1, -1}, 3), kInvalid, "sample 1", "-1");
  EXPECT_ERROR(weighted_order({NAN}, 3), kInvalid, "sample 0", "nan");
  EXPECT_ERROR(weighted_order({0, 0}, 3), kInvalid, "above 0");
  EXPECT_ERROR(weighted_order({}, 3), kInvalid, "above 0");
  EXPECT_ERROR(weighted_order({1e308, 1e308}, 3), kInvalid, "too large");
  EXPECT_ERROR(weighted_order({1}, -1), kInvalid, "-1 positions");
  EXPECT_ERROR(weighted_order_without_replacement({1, 0, 2}, 3), kInvalid, "3 different samples", "2 have");
}

TEST(SubsetOrder, IsShuffledOrAsListed) {
  const Ids chosen = {40, 7, 9, 1, 2, 3, 99, 12};
  EXPECT_EQ(epoch_of(subset_order(chosen, false), 1, 5), chosen);
  const auto shuffled = subset_order(chosen, true);
  expect_function_of_position(shuffled);
  const Ids once = epoch_of(shuffled);
  EXPECT_TRUE(std::is_permutation(once.begin(), once.end(), chosen.begin()));
  EXPECT_NE(shuffled->name(), subset_order(chosen, false)->name());
  EXPECT_NE(shuffled->name(), subset_order({40, 7}, true)->name());
}

TEST(BatchOrder, ShufflesWholeBatches) {
  const Ids listed = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50};
  EXPECT_EQ(epoch_of(batch_order(listed, 3, false)), listed);
  const auto order = batch_order(listed, 3, true);
  expect_function_of_position(order);
  const Ids shuffled = epoch_of(order);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), listed.begin()));
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(shuffled[i] % 10, static_cast<std::int64_t>(i % 3));
  EXPECT_EQ(shuffled.back(), 50);
  EXPECT_ERROR(batch_order(listed, 0, true), kInvalid, "batch_size is 0");
}

TEST(LengthBucketed, BatchesAreOfSimilarLength) {
  Ids lengths;
  for (std::int64_t i = 0; i < 103; ++i) lengths.push_back(i * 37 % 103);
  const auto order = length_bucketed_order(lengths, 4, 5);
  expect_function_of_position(order);
  const Ids samples = epoch_of(order);
  EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), 103u);
  // In each window no length of one batch lies between those of another.
  for (std::size_t window = 0; window < samples.size(); window += 20) {
    std::map<std::int64_t, std::size_t> by_length;  // batch
    for (std::size_t i = window; i < std::min(window + 20, samples.size()); ++i) {
      by_length[lengths[static_cast<std::size_t>(samples[i])]] = i / 4;
    }
    std::set<std::size_t> done;
    std::size_t current = by_length.begin()->second;
    for (const auto& [length, batch] : by_length) {
      if (batch == current) continue;
      done.insert(current);
      EXPECT_FALSE(done.contains(batch)) << length;
      current = batch;
    }
  }
  EXPECT_ERROR(length_bucketed_order(lengths, 0, 5), kInvalid, "5 batches of 0");
  EXPECT_ERROR(length_bucketed_order(lengths, 4, -5), kInvalid, "-5");
}

TEST(Distributed, DealsPositionsOut) {
  const auto all = shuffled_order(10);
  const Ids whole = epoch_of(all);
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const auto order = distributed_order(all, rank, 3);
    const Ids part = epoch_of(order);
    ASSERT_EQ(part.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(part[i], whole[(3 * i + static_cast<std::size_t>(rank)) % 10]);
    EXPECT_EQ(order->name(), "1 of 3: shuffle");
  }
  EXPECT_ERROR(distributed_order(all, 3, 3), kInvalid, "rank 3");
  EXPECT_ERROR(distributed_order(nullptr, 0, 1), kInvalid, "no order");
}

TEST(Listed, IsAskedOnceAnEpoch) {
  int asked = 0;
  const auto order =
      listed_order("backwards", 5, [&](std::uint64_t seed, std::int64_t epoch, std::span<std::int64_t> out) {
        ++asked;
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = static_cast<std::int64_t>(seed * 100 + 10 * epoch + 4 - i);
      });
  Ids two(2);
  order->samples(3, 1, 2, two);
  order->samples(3, 1, 3, two);
  EXPECT_EQ(two, (Ids{311, 310}));
  EXPECT_EQ(asked, 1);
  expect_function_of_position(order);
  EXPECT_EQ(order->name(), "backwards");
  EXPECT_ERROR(listed_order("none", 5, {}), kInvalid, "'none'", "function");
  EXPECT_ERROR(listed_order("few", -2, [](auto, auto, auto) {}), kInvalid, "'few'", "-2");
}

}  // namespace
}  // namespace tandem::samplers_test
