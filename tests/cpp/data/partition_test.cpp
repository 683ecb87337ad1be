#include "tandem/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "cpp/data/expect_error.h"

namespace tandem::partition_test {
namespace {

constexpr Tail kTails[] = {Tail::kShort, Tail::kDrop, Tail::kPad, Tail::kRepeat, Tail::kEven};

using Batches = std::vector<std::vector<std::int64_t>>;  // the positions of each global batch, in the order of ranks

Batches global_batches(std::int64_t positions, std::int64_t batch_size, std::int64_t world, Tail tail,
                       std::int64_t origin = 0) {
  Batches batches;
  for (std::int64_t rank = 0; rank < world; ++rank) {
    const StaticPartition part(positions, batch_size, rank, world, tail, origin);
    if (rank == 0) batches.resize(static_cast<std::size_t>(part.batches()));
    EXPECT_EQ(part.batches(), static_cast<std::int64_t>(batches.size()));
    for (std::int64_t b = 0; b < part.batches(); ++b) {
      const auto slice = part.slice(b);
      for (std::int64_t i = 0; i < slice.size; ++i) {
        batches[static_cast<std::size_t>(b)].push_back((slice.begin + i) % positions);
      }
    }
  }
  return batches;
}

TEST(StaticPartition, GlobalBatchesAreThoseOfOneRank) {
  for (const std::int64_t positions : {0, 1, 7, 64, 100, 101}) {
    for (const std::int64_t batch_size : {1, 4, 7, 13, 200}) {
      for (const Tail tail : {Tail::kShort, Tail::kDrop, Tail::kPad, Tail::kRepeat}) {
        const Batches whole = global_batches(positions, batch_size, 1, tail);
        for (const std::int64_t world : {2, 3, 4, 5, 9}) {
          ASSERT_EQ(global_batches(positions, batch_size, world, tail), whole)
              << positions << " in batches of " << batch_size << " on " << world << ", tail " << static_cast<int>(tail);
        }
      }
    }
  }
}

TEST(StaticPartition, SlicesDifferByOneAtMost) {
  for (const Tail tail : kTails) {
    for (const std::int64_t world : {1, 2, 3, 5, 9}) {
      for (const std::int64_t batch_size : {1, 7, 16}) {
        const std::int64_t batches = StaticPartition(101, batch_size, 0, world, tail).batches();
        for (std::int64_t b = 0; b < batches; ++b) {
          std::vector<std::int64_t> sizes, rows, globals;
          for (std::int64_t rank = 0; rank < world; ++rank) {
            const auto slice = StaticPartition(101, batch_size, rank, world, tail).slice(b);
            sizes.push_back(slice.size);
            rows.push_back(slice.rows);
            globals.push_back(slice.global);
            ASSERT_GE(slice.rows, slice.size);
          }
          for (const auto& list : {sizes, rows}) {
            const auto [least, most] = std::minmax_element(list.begin(), list.end());
            ASSERT_LE(*most - *least, 1);
          }
          const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
          ASSERT_EQ(globals, std::vector<std::int64_t>(static_cast<std::size_t>(world), sum));
          if (tail == Tail::kPad || tail == Tail::kRepeat || tail == Tail::kDrop) {
            ASSERT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), batch_size);
          }
        }
      }
    }
  }
}

TEST(StaticPartition, TailsAreWhatTheySay) {
  const auto last = [](Tail tail, std::int64_t world) { return global_batches(10, 4, world, tail).back(); };
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(last(Tail::kShort, 3), (List{8, 9}));
  EXPECT_EQ(last(Tail::kDrop, 3), (List{4, 5, 6, 7}));
  EXPECT_EQ(last(Tail::kPad, 3), (List{8, 9}));
  EXPECT_EQ(last(Tail::kRepeat, 3), (List{8, 9, 0, 1}));
  EXPECT_EQ(last(Tail::kEven, 3), (List{8, 9, 0}));
  EXPECT_EQ(last(Tail::kEven, 2), (List{8, 9}));
  // Repeated as often as it takes.
  EXPECT_EQ(global_batches(3, 8, 2, Tail::kRepeat), (Batches{{0, 1, 2, 0, 1, 2, 0, 1}}));
}

TEST(StaticPartition, GoesOnFromAnywhere) {
  for (const Tail tail : kTails) {
    const Batches whole = global_batches(50, 8, 1, tail);
    for (std::int64_t b = 0; b <= static_cast<std::int64_t>(whole.size()); ++b) {
      const std::int64_t origin = StaticPartition(50, 8, 0, 1, tail).begin(b);
      const Batches rest = global_batches(50, 8, 3, tail, origin);
      if (tail == Tail::kEven) continue;
      ASSERT_EQ(rest, Batches(whole.begin() + b, whole.end())) << static_cast<int>(tail) << " from " << origin;
    }
    // With batches of another size every position is still visited once.
    std::map<std::int64_t, int> seen;
    for (const auto& batch : global_batches(50, 7, 1, Tail::kShort, 16)) {
      for (const std::int64_t position : batch) ++seen[position];
    }
    EXPECT_EQ(seen.size(), 34u);
    EXPECT_EQ(seen.begin()->first, 16);
  }
}

TEST(StaticPartition, HugeEpochs) {
  constexpr std::int64_t positions = 10'000'000'500;
  const StaticPartition part(positions, 1024, 6, 7, Tail::kPad);
  EXPECT_EQ(part.batches(), (positions + 1023) / 1024);
  const auto slice = part.slice(part.batches() - 1);
  EXPECT_EQ(slice.global, positions % 1024);
  EXPECT_EQ(slice.begin + slice.size, positions);
}

TEST(StaticPartition, RefusesWhatCannotBe) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  EXPECT_ERROR(StaticPartition(10, 0, 0, 1, Tail::kShort), kInvalid, "batch_size is 0");
  EXPECT_ERROR(StaticPartition(10, 1, 0, 0, Tail::kShort), kInvalid, "world_size is 0");
  EXPECT_ERROR(StaticPartition(10, 1, 2, 2, Tail::kShort), kInvalid, "rank 2", "world of 2");
  EXPECT_ERROR(StaticPartition(10, 1, 0, 1, Tail::kShort, 11), kInvalid, "position 11");
}

}  // namespace
}  // namespace tandem::partition_test
