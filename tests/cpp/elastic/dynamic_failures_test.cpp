// The dynamic partition where samples and parts fail.
#include "tandem/dynamic_loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "cpp/elastic/dynamic_ranks.h"
#include "tandem/batch_transform.h"

namespace tandem::dynamic_failures_test {
namespace {

using namespace dynamic_ranks;
using namespace tandem::testing;

TEST(DynamicFailures, AStepThatFailsIsNoSamplesFault) {
  DynamicLoader loader(std::make_shared<Numbers>(4), options_of(4, 4), {hash_store(), 1, 0, 1});
  loader.add_transform(custom_step([](Batch&) { throw Error(ErrorCode::kOutOfRange, "no luck"); }));
  ASSERT_TRUE(loader.next_step());
  EXPECT_ERROR(loader.next(), ErrorCode::kOutOfRange, "cannot transform batch 0 of epoch 0", "no luck");
  EXPECT_TRUE(loader.quarantine().empty());
}

TEST(DynamicFailures, LackOfMemoryIsNoSamplesFault) {
  class NeedsMuch : public Numbers {
   public:
    using Numbers::Numbers;
    std::vector<at::Tensor> get(std::int64_t i) override {
      if (i != 2) return Numbers::get(i);
      if (of_cpp) throw std::bad_alloc();
      return {at::empty({std::int64_t{1} << 50}, at::kByte)};
    }
    bool of_cpp = false;
  };
  for (const bool of_cpp : {false, true}) {
    const auto data = std::make_shared<NeedsMuch>(4);
    data->of_cpp = of_cpp;
    DynamicLoaderOptions options = options_of(4, 4);
    options.most_failures = 1;
    DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
    ASSERT_TRUE(loader.next_step());
    EXPECT_ERROR(loader.next(), ErrorCode::kOutOfMemory, "cannot load sample 2", "memory");
    EXPECT_TRUE(loader.quarantine().empty());
  }
}

// Its last sample takes so long, at first, that everything else is made meanwhile.
class SlowAtLast : public Numbers {
 public:
  using Numbers::Numbers;
  std::vector<at::Tensor> get(std::int64_t i) override {
    const bool is_last = i == size() - 1;
    if (is_last && !slept.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return Numbers::get(i);
  }
  std::atomic<bool> slept = false;
};

// Of two steps of two parts an epoch.
Log log_of(std::int64_t epochs) {
  Log log;
  for (std::int64_t step = 0; step < 2 * epochs; ++step) {
    log.push_back({1, step / 2, step % 2, {{0, 0, 2}, {1, 0, 2}}, {}});
  }
  return log;
}

TEST(DynamicFailures, APartThatFailsEndsItsStepAndNoOther) {
  DynamicLoaderOptions options = options_of(4, 2);
  options.shuffle = false;
  options.threads = 2;
  options.prefetch = 4;
  for (const std::int64_t epochs : {1, 2}) {
    const auto data = std::make_shared<SlowAtLast>(8);
    {
      // Another thread comes to the log's end, or on to the next epoch, meanwhile.
      DynamicLoader loader(data, options, 0, log_of(epochs));
      Exchange alone(1);
      EXPECT_EQ(train(loader, 1, alone, nullptr), log_of(1));
    }
    data->slept = false;
    data->broken = 7;
    DynamicLoader loader(data, options, 0, log_of(epochs));
    ASSERT_TRUE(loader.next_step());
    ASSERT_TRUE(loader.next().has_value());
    ASSERT_TRUE(loader.next().has_value());
    EXPECT_FALSE(loader.next().has_value());
    loader.commit();
    ASSERT_TRUE(loader.next_step());
    const auto part = loader.next();
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->samples, (Ids{4, 5}));
    EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "sample 7", "step 1 of epoch 0", "number 7 is broken");
  }
}

// So too where ranks share the steps: what is made ahead and fails waits for its turn.
TEST(DynamicFailures, APartAheadThatFailsIsNotThisSteps) {
  const auto data = std::make_shared<Numbers>(8);
  DynamicLoaderOptions options = options_of(4, 2);
  options.shuffle = false;
  options.prefetch = 4;
  options.most_quarantined = 0;
  const Store store = hash_store();
  data->broken = 6;
  DynamicLoader loader(data, options, {store, 1, 0, 2});
  DynamicLoaderOptions others = options;
  others.prefetch = 0;
  DynamicLoader other(std::make_shared<Numbers>(8), others, {store, 1, 1, 2});
  other.next_step();
  ASSERT_TRUE(other.next().has_value());
  loader.next_step();
  ASSERT_TRUE(loader.next().has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // in which the next step's parts are tried
  other.fail(0, "the loss is NaN");
  const auto back = loader.next();
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->samples, (Ids{0, 1}));
  EXPECT_FALSE(loader.next().has_value());
  loader.commit();
  loader.next_step();
  EXPECT_ERROR(
      {
        while (loader.next()) {
        }
      },
      ErrorCode::kDataLoss, "sample 6");
}

TEST(DynamicFailures, ASampleThatFailsIsLeftOutAndNamed) {
  const auto data = std::make_shared<Numbers>(20);
  data->broken = 13;
  const Store store = hash_store();
  Ledger ledger;
  Exchange exchange(2);
  std::vector<Log> logs(2);
  std::vector<Quarantined> quarantine;
  run_ranks(2, [&](int rank) {
    DynamicLoader loader(data, options_of(8, 3), {store, 1, rank, 2});
    logs[static_cast<std::size_t>(rank)] = train(loader, 2, exchange, &ledger);
    if (rank == 0) quarantine = loader.quarantine();
  });
  ASSERT_EQ(quarantine.size(), 1u);
  EXPECT_EQ(quarantine[0].sample, 13);
  EXPECT_EQ(quarantine[0].epoch, 0);
  EXPECT_EQ(quarantine[0].failures, 3);
  EXPECT_EQ(logs[1], logs[0]);
  const auto first =
      std::find_if(logs[0].begin(), logs[0].end(), [](const auto& step) { return !step.left_out.empty(); });
  ASSERT_NE(first, logs[0].end());
  EXPECT_EQ(first->left_out, quarantine);
  EXPECT_EQ(first->step, quarantine[0].step);
  EXPECT_THAT(quarantine[0].reason, ::testing::HasSubstr("number 13 is broken"));
  auto expected = static_steps(std::make_shared<Numbers>(20), 8, 2, Tail::kShort);
  for (auto& [step, samples] : expected) std::erase(samples, 13);
  EXPECT_EQ(ledger.steps(), expected);
  // A log that is run again leaves it out from the same step on.
  Ledger again;
  Exchange alone(1);
  for (const std::int32_t rank : {0, 1}) {
    DynamicLoader loader(data, options_of(8, 3), rank, logs[0]);
    train(loader, 2, alone, &again);
  }
  EXPECT_EQ(again.steps(), expected);
}

// What passes is no sample's fault, and no end of the run: neither where the samples cannot be read, nor where they
// can, one by one.
class FailsAtFirst : public ::testing::TestWithParam<ErrorCode> {};

TEST_P(FailsAtFirst, IsTriedAgain) {
  class Failing : public Numbers {
   public:
    explicit Failing(ErrorCode code) : Numbers(20), code_(code) {}
    std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
      const bool together = samples.size() > 1 && std::find(samples.begin(), samples.end(), 13) != samples.end();
      if (together && failures > 0 && failures-- > 0) throw Error(code_, "it is away");
      return Numbers::get_batch(samples, rows);
    }
    std::atomic<int> failures = 2;

   private:
    const ErrorCode code_;
  };
  const auto data = std::make_shared<Failing>(GetParam());
  DynamicLoaderOptions options = options_of(8, 4);
  options.io_retry = std::chrono::seconds(1);
  options.timeout = std::chrono::seconds(20);
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  Ledger ledger;
  Exchange alone(1);
  train(loader, 1, alone, &ledger);
  EXPECT_EQ(data->failures, 0);
  EXPECT_EQ(ledger.steps(), static_steps(std::make_shared<Numbers>(20), 8, 1, Tail::kShort));
  EXPECT_TRUE(loader.quarantine().empty());
  data->failures = 1000;
  EXPECT_ERROR(train(loader, 2, alone, nullptr), GetParam(), "it is away");
  EXPECT_TRUE(loader.quarantine().empty());
}
INSTANTIATE_TEST_SUITE_P(Codes, FailsAtFirst,
                         ::testing::Values(ErrorCode::kIo, ErrorCode::kTimeout, ErrorCode::kDataLoss));

TEST(DynamicFailures, TheProgramRefusesSamplesAsWell) {
  const auto data = std::make_shared<Numbers>(6);
  DynamicLoaderOptions options = options_of(6, 1);
  options.most_failures = 2;
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  EXPECT_ERROR(loader.fail(3, "?"), ErrorCode::kInvalidArgument, "no part");
  loader.next_step();
  int refused = 0;
  Ids computed;
  while (const auto part = loader.next()) {
    EXPECT_EQ(part->global_count, 6);
    if (part->samples[0] == 3) {
      EXPECT_ERROR(loader.fail(4, "?"), ErrorCode::kInvalidArgument, "sample 4");
      loader.fail(3, "the loss is NaN");
      ++refused;
    } else {
      computed.insert(computed.end(), part->samples.begin(), part->samples.end());
    }
  }
  EXPECT_EQ(refused, 2);
  std::sort(computed.begin(), computed.end());
  EXPECT_EQ(computed, (Ids{0, 1, 2, 4, 5}));
  EXPECT_EQ(loader.global_count(), 5);
  EXPECT_TRUE(loader.quarantine().empty());  // of steps that the model has
  const CommittedStep step = loader.commit();
  EXPECT_EQ(step.left_out, loader.quarantine());
  EXPECT_EQ(step.left_out, (std::vector<Quarantined>{{3, 0, 0, 2, "the loss is NaN"}}));
}

TEST(DynamicFailures, TooManyBrokenSamplesAreAnError) {
  const auto data = std::make_shared<Numbers>(4);
  data->broken = 2;
  DynamicLoaderOptions options = options_of(4, 4);
  options.most_quarantined = 0;
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  loader.next_step();
  EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "most_quarantined", "sample 2", "number 2 is broken");
  EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "number 2 is broken");
}

// A quarantine is part of a checkpoint: the next generation leaves the same samples out, and others that fail then.
TEST(DynamicFailures, AQuarantineGoesOn) {
  const auto data = std::make_shared<Numbers>(8);
  const std::vector<Quarantined> known = {{5, 0, 0, 3, "bad"}};
  const Store store = hash_store();
  Exchange exchange(2);
  Ledger ledger;
  run_ranks(2, [&](int rank) {
    DynamicLoader loader(data, options_of(8, 3), {store, 4, rank, 2}, {}, known);
    train(loader, 1, exchange, &ledger);
    EXPECT_EQ(loader.quarantine(), known);
  });
  EXPECT_EQ(ledger.steps().begin()->second, (Ids{0, 1, 2, 3, 4, 6, 7}));
}

}  // namespace
}  // namespace tandem::dynamic_failures_test
