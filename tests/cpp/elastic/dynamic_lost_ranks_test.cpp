// The dynamic partition where ranks are lost, late or stopped, or the store is.
#include "tandem/dynamic_loader.h"

#include <ATen/ATen.h>

#include <chrono>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "cpp/elastic/dynamic_ranks.h"

namespace tandem::dynamic_lost_ranks_test {
namespace {

using namespace dynamic_ranks;
using namespace tandem::testing;

// Its ranks stop at one moment, each with a part: all are given up together, not one after the other.
TEST(DynamicLostRanks, TheRanksOfALostHostAreGivenUpTogether) {
  constexpr std::int32_t kLost = 31;
  const auto data = std::make_shared<Numbers>(kLost + 2);
  const Store store = hash_store();
  DynamicLoaderOptions options = options_of(kLost + 2, 1);
  options.prefetch = 0;
  options.lost_after = std::chrono::seconds(1);
  const auto join = [&](std::int32_t rank) {
    return std::make_unique<DynamicLoader>(data, options, LeaseMembership{store, 1, rank, kLost + 2});
  };
  const auto first = join(0), last = join(kLost + 1);
  std::vector<std::unique_ptr<DynamicLoader>> host;
  for (std::int32_t rank = 1; rank <= kLost; ++rank) {
    host.push_back(join(rank));
    host.back()->next_step();
    ASSERT_TRUE(host.back()->next().has_value());
  }
  host.clear();
  const auto since = std::chrono::steady_clock::now();
  std::int64_t samples = 0;
  first->next_step();
  while (auto part = first->next()) samples += part->local_count;
  EXPECT_EQ(samples, kLost + 2);
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(20));  // a second each would be 31
}

TEST(DynamicLostRanks, ARankWithoutASignOfLifeIsGivenUp) {
  const auto data = std::make_shared<Numbers>(12);
  const Store store = hash_store();
  DynamicLoaderOptions options = options_of(12, 3);
  options.lost_after = std::chrono::milliseconds(100);
  DynamicLoader first(data, options, {store, 1, 0, 2});
  auto second = std::make_unique<DynamicLoader>(data, options, LeaseMembership{store, 1, 1, 2});
  second->next_step();
  ASSERT_TRUE(second->next().has_value());  // leased, and maybe another one ahead
  second.reset();
  Ledger ledger;
  Exchange alone(1);
  train(first, 1, alone, &ledger);
  EXPECT_EQ(ledger.steps(), static_steps(data, 12, 1, Tail::kShort));
  // Should it live on, it is told.
  EXPECT_ERROR(
      {
        DynamicLoader late(data, options, {store, 1, 1, 2});
        late.next_step();
        late.next();
      },
      ErrorCode::kAborted, "given up");
}

TEST(DynamicLostRanks, AnOlderGenerationIsFenced) {
  const auto data = std::make_shared<Numbers>(12);
  const Store store = hash_store();
  DynamicLoader old(data, options_of(6, 6), {store, 1, 0, 1});
  old.next_step();
  while (old.next()) {
  }
  const std::string before = old.state();
  DynamicLoader now(data, options_of(6, 6), {store, 2, 0, 1}, before);
  // Its optimizer makes the step, which its model has then; nobody else needs to know.
  EXPECT_EQ(old.commit().samples(), 6);
  EXPECT_NE(old.state(), before);
  EXPECT_ERROR(old.next_step(), ErrorCode::kAborted, "rank 0 of generation 1", "generation 2 has begun");
  Ledger ledger;
  Exchange alone(1);
  train(now, 1, alone, &ledger);
  EXPECT_EQ(ledger.steps(), static_steps(data, 6, 1, Tail::kShort));
  EXPECT_ERROR(DynamicLoader(data, options_of(6, 6), {store, 1, 0, 1}), ErrorCode::kAborted, "generation 2 has begun");
}

TEST(DynamicLostRanks, AbortWakesWhoWaits) {
  const auto data = std::make_shared<Numbers>(4);
  const Store store = hash_store();
  DynamicLoader slow(data, options_of(4, 4), {store, 1, 0, 2});
  slow.next_step();
  ASSERT_TRUE(slow.next().has_value());
  DynamicLoader waits(data, options_of(4, 4), {store, 1, 1, 2});
  waits.next_step();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    waits.abort();
  });
  EXPECT_ERROR(waits.next(), ErrorCode::kAborted, "abort");
  other.join();
  EXPECT_ERROR(waits.next(), ErrorCode::kAborted, "abort");
  // A part that was given, and not computed when its rank gave up, keeps the step from being whole.
  slow.abort();
  EXPECT_ERROR(slow.next(), ErrorCode::kAborted, "abort");
  EXPECT_ERROR(slow.fail(0, "?"), ErrorCode::kAborted, "abort");
  DynamicLoaderOptions options = options_of(4, 4);
  options.timeout = std::chrono::milliseconds(50);
  DynamicLoader asks(data, options, {store, 1, 1, 2});
  asks.next_step();
  EXPECT_ERROR(asks.next(), ErrorCode::kTimeout, "rank 0 holds 1 part");
}

TEST(DynamicLostRanks, AStepThatIsWholeIsCommittedAfterAnAbort) {
  const auto data = std::make_shared<Numbers>(8);
  const Store store = hash_store();
  DynamicLoader loader(data, options_of(4, 4), {store, 1, 0, 1});
  loader.next_step();
  while (loader.next()) {
  }
  loader.abort();
  EXPECT_EQ(loader.commit().samples(), 4);
  EXPECT_ERROR(loader.next_step(), ErrorCode::kAborted, "abort");
  DynamicLoader unused(data, options_of(4, 4), {store, 2, 0, 1}, loader.state());
  EXPECT_EQ(unused.step(), 1);
  unused.abort();
  EXPECT_ERROR(unused.next_step(), ErrorCode::kAborted, "abort");
}

TEST(DynamicLostRanks, SaysWhoIsMissing) {
  const auto data = std::make_shared<Numbers>(4);
  const Store store = hash_store();
  DynamicLoader slow(data, options_of(4, 2), {store, 1, 0, 2});
  slow.next_step();
  ASSERT_TRUE(slow.next().has_value());
  DynamicLoaderOptions options = options_of(4, 2);
  options.timeout = std::chrono::milliseconds(1);
  DynamicLoader waits(data, options, {store, 1, 1, 2});
  waits.next_step();
  EXPECT_ERROR(
      {
        for (int i = 0; i < 1000; ++i) {
          try {
            waits.next();  // perhaps a part, for the other's thread need not have leased both
          } catch (const Error& error) {
            if (std::string(error.what()).find("rank 0 holds") != std::string::npos) throw;
          }
        }
      },
      ErrorCode::kTimeout, "step 0 of epoch 0 is not whole", "rank 0 holds");
  slow.next();  // what it made meanwhile counts as ever
}

TEST(DynamicLostRanks, TwoLoadersShareAStore) {
  const Store store = hash_store();
  Exchange alone(1);
  Ledger ledger, other;
  DynamicLoader first(std::make_shared<Numbers>(12), options_of(4, 2), {store, 1, 0, 1, "training"});
  DynamicLoader second(std::make_shared<Numbers>(7), options_of(3, 2), {store, 1, 0, 1, "validation"});
  train(first, 1, alone, &ledger);
  train(second, 1, alone, &other);
  EXPECT_EQ(ledger.steps(), static_steps(std::make_shared<Numbers>(12), 4, 1, Tail::kShort));
  EXPECT_EQ(other.steps(), static_steps(std::make_shared<Numbers>(7), 3, 1, Tail::kShort));
}

// The store tells ranks where their queue is, and nothing after that.
TEST(DynamicLostRanks, AStoreThatIsGoneIsNotMissed) {
  TCPStoreOptions server;
  server.is_server = true;
  auto serves = tcp_store("127.0.0.1", 0, server);
  Store store = tcp_store("127.0.0.1", store_port(serves));
  const auto data = std::make_shared<Numbers>(12);
  DynamicLoader loader(data, options_of(4, 2), {store, 1, 0, 1});
  store.reset();
  serves.reset();
  Ledger ledger;
  Exchange alone(1);
  train(loader, 1, alone, &ledger);
  EXPECT_EQ(ledger.steps(), static_steps(data, 4, 1, Tail::kShort));
}

// Who keeps the queue leaves while others still ask: no exchange holds it up, as in an evaluation.
TEST(DynamicLostRanks, WhoKeepsTheQueueMayLeaveFirst) {
  const auto data = std::make_shared<Numbers>(8);
  const Store store = hash_store();
  DynamicLoaderOptions options = options_of(8, 4);
  options.prefetch = 0;
  auto keeper = std::make_unique<DynamicLoader>(data, options, LeaseMembership{store, 1, 0, 2});
  DynamicLoader other(data, options, {store, 1, 1, 2});
  other.next_step();
  ASSERT_TRUE(other.next().has_value());
  keeper->next_step();
  ASSERT_TRUE(keeper->next().has_value());
  std::thread computes([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(other.next().has_value());
  });
  EXPECT_FALSE(keeper->next().has_value());
  keeper->commit();
  keeper.reset();
  computes.join();
  EXPECT_EQ(other.global_count(), 8);
  other.commit();
  EXPECT_FALSE(other.next_step());
  EXPECT_EQ(other.epoch(), 1);
}

// Without another generation: all ranks of this one have left, and come with the same position.
TEST(DynamicLostRanks, AQueueWhoseKeeperIsGoneIsBegunAgain) {
  const auto data = std::make_shared<Numbers>(12);
  const Store store = hash_store();
  std::string state;
  {
    DynamicLoader loader(data, options_of(4, 2), {store, 1, 0, 1});
    loader.next_step();
    while (loader.next()) {
    }
    loader.commit();
    state = loader.state();
    loader.next_step();
    loader.next();
  }
  DynamicLoader again(data, options_of(4, 2), {store, 1, 0, 1}, state);
  EXPECT_EQ(again.step(), 1);
  Ledger ledger;
  Exchange alone(1);
  train(again, 1, alone, &ledger);
  auto expected = static_steps(data, 4, 1, Tail::kShort);
  expected.erase(expected.begin());
  EXPECT_EQ(ledger.steps(), expected);
}

}  // namespace
}  // namespace tandem::dynamic_lost_ranks_test
