// All-reduces of tensors that lie in shared memory, with ranks as threads, and the heap that they lie in.
#include "comm/shared_tensors.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <limits>

#include "comm/shm/heap.h"
#include "comm/shm/layout.h"
#include "cpp/comm/threads.h"
#include "tandem/ddp.h"

namespace tandem::testing::shared_tensors_test {
namespace {

using ::testing::IsNull;

constexpr std::size_t kUnit = shm::kHugePage;

TEST(SharedHeap, GivesOutAndTakesBack) {
  const auto segment = shm::Segment::create(8 * kUnit);
  shm::Heap heap(segment, kUnit);
  std::byte* const all = heap.allocate(7 * kUnit);
  ASSERT_EQ(all, segment->data() + kUnit);
  EXPECT_THAT(heap.allocate(1), IsNull());
  heap.free(all);
  std::byte* const a = heap.allocate(1);
  std::byte* const b = heap.allocate(2 * kUnit);
  std::byte* const c = heap.allocate(4 * kUnit);
  EXPECT_EQ(b, a + kUnit);
  EXPECT_EQ(c, b + 2 * kUnit);
  EXPECT_THAT(heap.allocate(1), IsNull());
  // In every order, neighbours become one again.
  heap.free(a);
  heap.free(c);
  EXPECT_THAT(heap.allocate(5 * kUnit), IsNull());
  heap.free(b);
  EXPECT_EQ(heap.allocate(7 * kUnit), all);
  EXPECT_THAT(heap.allocate(0), IsNull());
  EXPECT_THAT(heap.allocate(std::numeric_limits<std::size_t>::max()), IsNull());
}

TEST(SharedHeap, ForgetsWhatLayInAFreedBlock) {
  const auto segment = shm::Segment::create(3 * kUnit);
  shm::Heap heap(segment, kUnit);
  std::byte* const block = heap.allocate(kUnit);
  *block = std::byte{7};
  heap.free(block);
  EXPECT_EQ(*heap.allocate(kUnit), std::byte{0});
}

TEST(SharedHeap, KnowsItsOwn) {
  const auto segment = shm::Segment::create(4 * kUnit);
  const shm::Heap heap(segment, kUnit);
  EXPECT_EQ(heap.place_of(segment->data() + kUnit, 3 * kUnit), kUnit);
  EXPECT_EQ(heap.place_of(segment->data() + 2 * kUnit, kUnit), 2 * kUnit);
  EXPECT_EQ(heap.place_of(segment->data() + 2 * kUnit, 2 * kUnit + 1), 0u);
  EXPECT_EQ(heap.place_of(segment->data(), 1), 0u);
  EXPECT_EQ(heap.place_of(segment->data() + 4 * kUnit, 0), 0u);
}

at::Tensor numbers(std::int64_t count, int rank, at::ScalarType dtype) {
  return ((torch::arange(count, torch::kLong) * 7 + rank * 5).remainder(11) + 1).to(dtype);
}

// The same numbers in memory of which others know.
at::Tensor in_reach(ProcessGroup& group, const at::Tensor& tensor) {
  const SharedTensors shared(group);
  return tensor.clone();
}

class InPlace : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, InPlace, ::testing::Values(1, 2, 3, 4));

TEST_P(InPlace, AllReduceGivesTheBitsOfOrdinaryTensors) {
  const int size = GetParam();
  run_groups(
      size,
      [&](ProcessGroup& group) {
        for (const auto dtype : {torch::kFloat, torch::kBFloat16, torch::kLong}) {
          for (const auto op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMax}) {
            for (const std::int64_t count : {20000, 262144, 700001}) {
              const at::Tensor ordinary = numbers(count, group.rank(), dtype), shared = in_reach(group, ordinary);
              // The same place as on the other ranks or not: what counts is what each says.
              const at::Tensor first = group.rank() % 2 == 1 ? in_reach(group, torch::zeros({50000})) : at::Tensor();
              const at::Tensor moved = in_reach(group, ordinary);
              group.all_reduce(ordinary, op);
              group.all_reduce(shared, op);
              group.all_reduce(moved, op);
              EXPECT_TRUE(shared.equal(ordinary)) << dtype << " " << count;
              EXPECT_TRUE(moved.equal(ordinary)) << dtype << " " << count;
            }
          }
        }
      },
      "shm");
}

TEST_P(InPlace, SomeRanksMayHaveOrdinaryTensors) {
  run_groups(
      GetParam(),
      [&](ProcessGroup& group) {
        for (int other = 0; other < group.size(); ++other) {
          const at::Tensor plain = numbers(300000, group.rank(), torch::kFloat);
          const at::Tensor tensor = group.rank() == other ? plain.clone() : in_reach(group, plain);
          const at::Tensor view = tensor.narrow(0, 1, 299999);  // of a tensor, and not at a block's beginning
          group.all_reduce(plain);
          group.all_reduce(view);
          EXPECT_TRUE(view.equal(plain.narrow(0, 1, 299999)));
        }
      },
      "shm");
}

TEST(SharedTensors, OutliveTheirGroup) {
  at::Tensor kept[2];
  run_groups(
      2, [&](ProcessGroup& group) { kept[group.rank()] = in_reach(group, numbers(100000, group.rank(), torch::kFloat)); },
      "shm");
  for (int rank = 0; rank < 2; ++rank) EXPECT_TRUE(kept[rank].equal(numbers(100000, rank, torch::kFloat)));
}

TEST(SharedTensors, AreOrdinaryOnesWithOtherBackends) {
  run_groups(2, [&](ProcessGroup& group) {
    const at::Tensor tensor = in_reach(group, torch::ones({300000}));
    group.all_reduce(tensor);
    EXPECT_TRUE(tensor.eq(2).all().item<bool>());
  });
}

TEST(SharedTensors, HoldTheBucketsOfDDP) {
  // Gradients are views of them.
  run_groups(
      2,
      [&](ProcessGroup& group) {
        torch::manual_seed(1);
        torch::nn::Linear layer(1000, 1000);
        DataParallelOptions options;
        options.gradient_as_bucket_view = true;
        DistributedDataParallel<torch::nn::Linear> ddp(layer, std::shared_ptr<ProcessGroup>(&group, [](auto*) {}),
                                                       options);
        for (int step = 0; step < 3; ++step) {
          layer->zero_grad();
          ddp.forward(torch::full({1, 1000}, group.rank() + 1.0)).sum().backward();
          EXPECT_TRUE(layer->weight.grad().eq(1.5).all().item<bool>());
        }
        const void* const data = layer->weight.grad().data_ptr();
        std::ifstream maps("/proc/self/maps");
        bool shared = false;
        for (std::string line; std::getline(maps, line);) {
          std::uintptr_t begin = 0, end = 0;
          if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
          const auto at = reinterpret_cast<std::uintptr_t>(data);
          if (at >= begin && at < end) shared = line.find("tandem-shm") != std::string::npos;
        }
        EXPECT_TRUE(shared);
      },
      "shm");
}

}  // namespace
}  // namespace tandem::testing::shared_tensors_test
