// The dynamic partition with ranks that are threads: its global batches, steps, states and logs.
#include "tandem/dynamic_loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "cpp/elastic/dynamic_ranks.h"
#include "tandem/batch_transform.h"
#include "tandem/samplers.h"

namespace tandem::dynamic_loader_test {
namespace {

using namespace dynamic_ranks;
using namespace tandem::testing;

TEST(DynamicLoader, HasTheGlobalBatchesOfTheStaticPartition) {
  const auto data = std::make_shared<Numbers>(45);
  for (const Tail tail : {Tail::kShort, Tail::kDrop, Tail::kRepeat}) {
    const auto expected = static_steps(data, 8, 3, tail);
    for (const int size : {1, 2, 3}) {
      Ledger ledger;
      Exchange exchange(size);
      const Store store = hash_store();
      std::vector<std::string> states(static_cast<std::size_t>(size));
      run_ranks(size, [&](int rank) {
        DynamicLoaderOptions options = options_of(8, 3);
        options.tail = tail;
        DynamicLoader loader(data, options, {store, 1, rank, size});
        train(loader, 3, exchange, &ledger);
        states[static_cast<std::size_t>(rank)] = loader.state();
      });
      EXPECT_EQ(ledger.steps(), expected) << size << " ranks, tail " << static_cast<int>(tail);
      for (const auto& state : states) EXPECT_EQ(state, states[0]);
    }
  }
}

TEST(DynamicLoader, TakesAnOrderAndStepsOfTheProgramsOwn) {
  const auto data = std::make_shared<Numbers>(6);
  DynamicLoaderOptions options = options_of(4, 3);
  options.order = subset_order({5, 3, 1}, /*shuffle=*/false);
  options.transforms = {custom_step([](Batch& batch) { batch.tensors[0] = batch.tensors[0] * 10; })};
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1});
  ASSERT_TRUE(loader.next_step());
  const auto part = loader.next();
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->samples, (Ids{5, 3, 1}));
  EXPECT_TRUE(part->tensors[0].equal(at::tensor({50, 30, 10}, at::kLong).unsqueeze(1)));
  EXPECT_FALSE(loader.next().has_value());
  loader.commit();
  EXPECT_FALSE(loader.next_step());
}

TEST(DynamicLoader, StepsAreAddedBeforeItBegins) {
  DynamicLoader loader(std::make_shared<Numbers>(4), options_of(4, 4), {hash_store(), 1, 0, 1});
  const auto plus_one = [](Batch& batch) { batch.tensors[0] = batch.tensors[0] + 1; };
  EXPECT_ERROR(loader.add_transform(nullptr), ErrorCode::kInvalidArgument, "no transform");
  loader.add_transform(custom_step(plus_one));
  loader.add_transform(custom_step([](Batch& batch) { batch.tensors[0] = batch.tensors[0] * 10; }));
  ASSERT_TRUE(loader.next_step());
  const auto part = loader.next();
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->tensors[0].sum().item<std::int64_t>(), 100);
  EXPECT_ERROR(loader.add_transform(custom_step(plus_one)), ErrorCode::kInvalidArgument, "begun");
}

TEST(DynamicLoader, ARankWithoutSamplesJoinsTheStep) {
  const auto data = std::make_shared<Numbers>(5);
  const Store store = hash_store();
  Ledger ledger;
  Exchange exchange(3);
  run_ranks(3, [&](int rank) {
    DynamicLoader loader(data, options_of(1, 1), {store, 1, rank, 3});
    train(loader, 2, exchange, &ledger);
  });
  EXPECT_EQ(ledger.steps(), static_steps(data, 1, 2, Tail::kShort));
}

TEST(DynamicLoader, StatesAreThoseOfTheStaticPartition) {
  const auto data = std::make_shared<Numbers>(45);
  const auto expected = static_steps(data, 8, 2, Tail::kShort);
  LoaderOptions plain;
  plain.batch_size = 8;
  plain.seed = 5;
  DataLoader before(data, plain);
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps;
  const auto keep = [&](std::int64_t epoch, std::int64_t number, Ids samples) {
    std::sort(samples.begin(), samples.end());
    steps[{epoch, number}] = std::move(samples);
  };
  for (int i = 0; i < 3; ++i) {
    const auto batch = before.next();
    keep(0, batch->number, batch->samples);
    before.commit();
  }
  DynamicLoaderOptions options = options_of(8, 3);
  options.seed = 0;  // the state's counts
  std::string state;
  {
    DynamicLoader loader(data, options, {hash_store(), 7, 0, 1}, before.state());
    for (int i = 0; i < 5; ++i) {
      while (!loader.next_step()) {
      }
      Ids samples;
      const std::int64_t epoch = loader.epoch(), number = loader.step();
      while (const auto part = loader.next()) samples.insert(samples.end(), part->samples.begin(), part->samples.end());
      keep(epoch, number, samples);
      loader.commit();
    }
    state = loader.state();
    EXPECT_LT(state.size(), 256u);
  }
  DataLoader after(data, plain);
  after.restore(state);
  EXPECT_EQ(after.current_epoch(), 1);
  for (const LoadedBatch& batch : after.epoch(1)) keep(1, batch.number, batch.samples);
  EXPECT_EQ(steps, expected);
}

TEST(DynamicLoader, ALogRunsItAgain) {
  const auto data = std::make_shared<Numbers>(45);
  std::vector<Ids> computed(3);
  std::vector<Log> logs(3);
  {
    const Store store = hash_store();
    Exchange exchange(3);
    run_ranks(3, [&](int rank) {
      const auto i = static_cast<std::size_t>(rank);
      DynamicLoader loader(data, options_of(8, 2), {store, 1, rank, 3});
      logs[i] = train(loader, 2, exchange, nullptr, &computed[i]);
    });
  }
  EXPECT_EQ(logs[1], logs[0]);
  EXPECT_EQ(logs[2], logs[0]);
  Exchange alone(1);
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    Ids again;
    DynamicLoader loader(data, options_of(8, 2), rank, logs[0]);
    EXPECT_EQ(train(loader, 2, alone, nullptr, &again), logs[0]);
    EXPECT_EQ(again, computed[static_cast<std::size_t>(rank)]);
    ASSERT_TRUE(loader.next_step());
    EXPECT_ERROR(loader.next(), ErrorCode::kOutOfRange, "the log has no step 0 of epoch 2");
  }
}

TEST(DynamicLoader, AStateAtAnEpochsEndGoesOnWithTheNext) {
  const auto data = std::make_shared<Numbers>(10);
  LoaderOptions plain;
  plain.batch_size = 4;
  plain.tail = Tail::kShort;
  DataLoader before(data, plain);
  before.next();
  before.next();
  before.commit();
  DynamicLoaderOptions options = options_of(4, 4);
  options.tail = Tail::kDrop;  // what is left is none of its steps
  DynamicLoader loader(data, options, {hash_store(), 1, 0, 1}, before.state());
  EXPECT_EQ(loader.epoch(), 1);
  ASSERT_TRUE(loader.next_step());
  EXPECT_TRUE(loader.next().has_value());
}

TEST(DynamicLoader, RefusesALogOfOtherOptions) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  const auto data = std::make_shared<Numbers>(8);
  const auto replay = [&](Log log) { DynamicLoader loader(data, options_of(4, 2), 0, log); };
  replay({{1, 0, 0, {{1, 0, 2}, {0, 1, 2}}, {}}});
  EXPECT_ERROR(replay({{1, 0, 0, {{0, 0, 2}}, {}}}), kInvalid, "step 0 of epoch 0", "1 parts rather than 2");
  EXPECT_ERROR(replay({{1, 0, 0, {{0, 0, 2}, {0, 1, 2}}, {}}}), kInvalid, "part 0 is wrong");
  EXPECT_ERROR(replay({{1, 0, 0, {{0, 0, 2}, {2, 1, 2}}, {}}}), kInvalid, "part 2 is wrong");
  EXPECT_ERROR(replay({{1, 0, 2, {{0, 0, 2}, {1, 1, 2}}, {}}}), kInvalid, "step 2 of epoch 0", "no batch");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), -1, Log()), kInvalid, "rank -1");
}

TEST(DynamicLoader, ALogsPartsHaveAsManySamples) {
  const Log log = {{1, 0, 0, {{0, 0, 2}, {1, 0, 1}}, {}}};
  DynamicLoader loader(std::make_shared<Numbers>(4), options_of(4, 2), 0, log);
  ASSERT_TRUE(loader.next_step());
  ASSERT_TRUE(loader.next().has_value());
  ASSERT_TRUE(loader.next().has_value());
  EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "part 1 of step 0 of epoch 0", "2 samples", "1 were");
}

TEST(DynamicLoader, RefusesWhatCannotBe) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  const auto data = std::make_shared<Numbers>(10);
  const Store store = hash_store();
  DynamicLoader loader(data, options_of(4, 2), {store, 1, 0, 2});
  EXPECT_ERROR(DynamicLoader(data, options_of(5, 2), {store, 1, 1, 2}), kInvalid, "another plan", "batch_size 4");
  class OthersAsMany : public Numbers {
   public:
    using Numbers::Numbers;
    std::uint64_t fingerprint() const override { return Numbers::fingerprint() + 1; }
  };
  const auto as_another = [&](const std::shared_ptr<Dataset>& its_data, auto change) {
    DynamicLoaderOptions options = options_of(4, 2);
    change(options);
    DynamicLoader other(its_data, options, {store, 1, 1, 2});
  };
  const char* other_samples = "another data set, order or seed";
  EXPECT_ERROR(as_another(data, [](auto& options) { ++options.seed; }), kInvalid, other_samples);
  EXPECT_ERROR(as_another(data, [](auto& options) { options.shuffle = false; }), kInvalid, other_samples);
  EXPECT_ERROR(as_another(std::make_shared<OthersAsMany>(10), [](auto&) {}), kInvalid, other_samples);
  as_another(data, [](auto&) {});
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), {store, 1, 1, 3}), kInvalid, "2 ranks", "3");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), {nullptr, 1, 0, 1}), kInvalid, "store");
  EXPECT_ERROR(DynamicLoader(nullptr, options_of(4, 2), {store, 1, 0, 1}), kInvalid, "data set");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 0), {store, 3, 0, 1}), kInvalid, "micro_batch");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), {store, 3, 2, 2}), kInvalid, "rank 2");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), {store, 0, 0, 1}), kInvalid, "generation");
  EXPECT_ERROR(DynamicLoader(data, options_of(4, 2), {store, 3, 0, 1, ""}), kInvalid, "name");
  const auto make = [&](auto change) {
    DynamicLoaderOptions options = options_of(4, 2);
    change(options);
    DynamicLoader loader(data, options, {store, 3, 0, 1});
  };
  EXPECT_ERROR(make([](auto& options) { options.threads = 0; }), kInvalid, "threads");
  EXPECT_ERROR(make([](auto& options) { options.prefetch = -1; }), kInvalid, "prefetch");
  EXPECT_ERROR(make([](auto& options) { options.tail = Tail::kPad; }), kInvalid, "tail");
  EXPECT_ERROR(make([](auto& options) { options.timeout = {}; }), kInvalid, "timeout");
  EXPECT_ERROR(make([](auto& options) { options.lost_after = {}; }), kInvalid, "lost_after");
  EXPECT_ERROR(loader.next(), kInvalid, "next_step()");
  EXPECT_ERROR(loader.commit(), kInvalid, "no open step");
  loader.next_step();
  EXPECT_ERROR(loader.next_step(), kInvalid, "commit()");
  EXPECT_ERROR(loader.commit(), kInvalid, "before next()");
}

}  // namespace
}  // namespace tandem::dynamic_loader_test
