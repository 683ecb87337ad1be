// Groups of some of a group's ranks.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"

namespace tandem::testing::subgroups_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double sum_of_ranks(ProcessGroup& group, double own) {
  at::Tensor tensor = torch::full({3}, own);
  group.all_reduce(tensor);
  return tensor[2].item<double>();
}

TEST(Subgroups, OfSomeRanksInAnyOrder) {
  run_groups(3, [](ProcessGroup& group) {
    EXPECT_EQ(group.global_rank(2), 2);
    EXPECT_EQ(group.global_rank(3), -1);
    const auto pair = group.new_group({2, 0});
    EXPECT_EQ(pair == nullptr, group.rank() == 1);
    if (pair) {
      EXPECT_EQ(pair->size(), 2);
      EXPECT_EQ(pair->rank(), group.rank() == 2 ? 0 : 1);
      EXPECT_THAT(pair->global_ranks(), ElementsAre(2, 0));
      EXPECT_EQ(pair->global_rank(0), 2);
      EXPECT_EQ(pair->rank_of(0), 1);
      EXPECT_EQ(pair->rank_of(1), -1);
      EXPECT_EQ(pair->name(), "default/0");
      EXPECT_EQ(sum_of_ranks(*pair, group.rank()), 2);
      at::Tensor tensor = torch::full({1}, group.rank() * 1.0);
      pair->broadcast(tensor, 0);
      EXPECT_EQ(tensor.item<double>(), 2);
      pair->monitored_barrier();
    }
    EXPECT_EQ(sum_of_ranks(group, 1), 3);
    // The same ranks in another order, by the same name.
    const auto named = group.new_group({0, 2}, "ends"), again = group.new_group({2, 0}, "ends");
    if (named) {
      EXPECT_EQ(named->name(), "ends");
      EXPECT_EQ(sum_of_ranks(*named, 1) + sum_of_ranks(*again, 1), 4);
      // A group of a group's: numbers go through both.
      const auto inner = again->new_group({1});
      EXPECT_EQ(inner == nullptr, group.rank() == 2);
      if (inner) {
        EXPECT_EQ(inner->global_rank(0), 0);
      }
    }
  });
}

TEST(Subgroups, SplitAndEvenOnes) {
  run_groups(4, [](ProcessGroup& group) {
    const auto half = group.new_subgroups(2);
    EXPECT_THAT(half->global_ranks(), ElementsAre(group.rank() / 2 * 2, group.rank() / 2 * 2 + 1));
    EXPECT_EQ(sum_of_ranks(*half, group.rank()), group.rank() < 2 ? 1 : 5);
    const auto odd = group.split({{3, 1}, {2}}, "parts");
    EXPECT_EQ(odd == nullptr, group.rank() == 0);
    if (odd) {
      EXPECT_EQ(odd->name(), group.rank() == 2 ? "parts.1" : "parts.0");
      EXPECT_EQ(sum_of_ranks(*odd, 1), group.rank() == 2 ? 1 : 2);
    }
    const Error twice = error_of([&] { group.split({{0, 1}, {1}}); });
    EXPECT_THAT(twice.what(), HasSubstr("rank 1 is named twice"));
    EXPECT_THAT(error_of([&] { group.new_group({7}); }).what(), HasSubstr("member 7"));
    EXPECT_THAT(error_of([&] { group.new_subgroups(3); }).what(), HasSubstr("groups of 3"));
    group.barrier();
  });
}

TEST(Subgroups, LiveAndDieOnTheirOwn) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    auto group = ProcessGroup::create(options_for(rank, 2), store);
    auto inner = group->new_group({0, 1});
    group->barrier();
    inner->abort();
    EXPECT_EQ(error_of([&] { inner->barrier(); }).code(), ErrorCode::kAborted);
    inner.reset();
    inner = group->new_group({1, 0});
    EXPECT_EQ(sum_of_ranks(*group, 1), 2);
    group.reset();  // its sub-group needs it no more
    EXPECT_EQ(sum_of_ranks(*inner, 1), 2);
  });
}

}  // namespace
}  // namespace tandem::testing::subgroups_test
