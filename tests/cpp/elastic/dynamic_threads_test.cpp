// The threads that make parts of the dynamic partition, and what they make ahead.
#include "tandem/dynamic_loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "cpp/elastic/dynamic_ranks.h"
#include "tandem/batch_transform.h"

namespace tandem::dynamic_threads_test {
namespace {

using namespace dynamic_ranks;
using namespace tandem::testing;

TEST(DynamicThreads, CountsWhatItsThreadsDo) {
  DynamicLoaderOptions options = options_of(10, 4);
  options.transforms = {custom_step([](Batch& batch) { batch.tensors[0] = batch.tensors[0].clone(); })};
  DynamicLoader loader(std::make_shared<Numbers>(10), options, {hash_store(), 1, 0, 1});
  EXPECT_EQ(loader.statistics().bottleneck(), LoaderBottleneck::kUnknown);
  ASSERT_TRUE(loader.next_step());
  while (loader.next()) {
  }
  const LoaderStatistics statistics = loader.statistics();  // before the next epoch's parts are made ahead
  EXPECT_EQ(statistics.batches, 3);
  EXPECT_EQ(statistics.delivered, 3);
  EXPECT_EQ(statistics.samples, 10);
  EXPECT_EQ(statistics.bytes, 10 * 8);
  EXPECT_EQ(statistics.threads, 1);
  EXPECT_GT(statistics.decoding.count(), 0);
  EXPECT_GT(statistics.transforming.count(), 0);
  EXPECT_NE(statistics.bottleneck(), LoaderBottleneck::kUnknown);
}

// A MiB a sample, and how many of them there are.
class Large : public Numbers {
 public:
  using Numbers::Numbers;
  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    const std::int64_t now = (alive += rows);
    for (std::int64_t most_so_far = most; most_so_far < now && !most.compare_exchange_weak(most_so_far, now);) {
    }
    auto* memory = new std::vector<std::uint8_t>(static_cast<std::size_t>(rows) << 20);
    const auto done = [this, memory, rows](void*) {
      alive -= rows;
      delete memory;
    };
    made += static_cast<std::int64_t>(samples.size());
    return {at::from_blob(memory->data(), {rows, 1 << 20}, done, at::kByte)};
  }
  std::atomic<std::int64_t> alive = 0, most = 0, made = 0;
};

TEST(DynamicThreads, MemoryAheadStaysWithinItsBytes) {
  const auto data = std::make_shared<Large>(64);
  DynamicLoaderOptions options = options_of(32, 1);
  options.threads = 4;
  options.prefetch = 50;
  options.prefetch_bytes = 4 << 20;
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  while (loader.next_step()) {
    for (std::int64_t given = 1; const auto part = loader.next(); ++given) {
      // What is to come of the step is made without being asked for, and no more than that.
      while (data->made < loader.step() * 32 + std::min<std::int64_t>(given + 4, 32)) std::this_thread::yield();
      ASSERT_LE(data->alive, 4 + 1);
    }
    loader.commit();
  }
  EXPECT_EQ(data->most, 4 + 1);  // with the part that the program has
  EXPECT_EQ(loader.statistics().most_bytes_ready, options.prefetch_bytes);
}

TEST(DynamicThreads, PartsLargerThanItsBytesComeOneByOne) {
  const auto data = std::make_shared<Large>(12);
  DynamicLoaderOptions options = options_of(4, 1);
  options.threads = 3;
  options.prefetch = 8;
  options.prefetch_bytes = 0;
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  int given = 0;
  while (loader.next_step()) {
    while (loader.next()) ++given;
    loader.commit();
  }
  EXPECT_EQ(given, 12);
  EXPECT_EQ(data->most, 1);
  options.prefetch_bytes = -1;
  EXPECT_ERROR(DynamicLoader(data, options, {hash_store(), 1, 0, 1}), ErrorCode::kInvalidArgument, "prefetch_bytes");
}

TEST(DynamicThreads, WhoIsFreeTakesMore) {
  const auto data = std::make_shared<Numbers>(12);
  const Store store = hash_store();
  std::atomic<int> taken = 0;
  std::atomic<bool> slow_one_has_its_part = false;
  run_ranks(2, [&](int rank) {
    DynamicLoaderOptions options = options_of(12, 1);
    options.prefetch = 0;
    DynamicLoader loader(data, options, {store, 1, rank, 2});
    loader.next_step();
    if (rank == 1) {
      ASSERT_TRUE(loader.next().has_value());
      slow_one_has_its_part = true;
      while (taken < 11) std::this_thread::yield();
      EXPECT_FALSE(loader.next().has_value());
      EXPECT_EQ(loader.local_count(), 1);
    } else {
      while (!slow_one_has_its_part) std::this_thread::yield();
      while (loader.next()) ++taken;
      EXPECT_EQ(loader.local_count(), 11);
    }
    EXPECT_EQ(loader.global_count(), 12);
    loader.commit();
  });
}

TEST(DynamicThreads, ManyThreadsMakeParts) {
  const auto data = std::make_shared<Numbers>(101);
  data->broken = 50;
  Ledger ledger;
  Exchange exchange(2);
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    DynamicLoaderOptions options = options_of(16, 2);
    options.threads = 3;
    options.prefetch = 4;
    DynamicLoader loader(data, options, {store, 1, rank, 2});
    train(loader, 3, exchange, &ledger);
  });
  auto expected = static_steps(std::make_shared<Numbers>(101), 16, 3, Tail::kShort);
  for (auto& [step, samples] : expected) std::erase(samples, 50);
  EXPECT_EQ(ledger.steps(), expected);
}

}  // namespace
}  // namespace tandem::dynamic_threads_test
