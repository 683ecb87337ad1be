// The dynamic partition with ranks that are threads.
#include "tandem/dynamic_loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>

#include "cpp/comm/threads.h"
#include "cpp/data/expect_error.h"
#include "tandem/batch_transform.h"
#include "tandem/samplers.h"

namespace tandem::testing {
namespace {

using Ids = std::vector<std::int64_t>;

class Numbers : public Dataset {
 public:
  explicit Numbers(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (i == broken) throw Error(ErrorCode::kDataLoss, "number " + std::to_string(i) + " is broken");
    return {at::full({1}, i, at::kLong)};
  }
  std::int64_t broken = -1;

 private:
  std::int64_t size_;
};

DynamicLoaderOptions options_of(std::int64_t batch_size, std::int64_t micro_batch) {
  DynamicLoaderOptions options;
  options.batch_size = batch_size;
  options.micro_batch = micro_batch;
  options.seed = 5;
  return options;
}

// What was computed: samples by (epoch, step), of all ranks.
class Ledger {
 public:
  void add(const DynamicLoader& loader, const LoadedBatch& part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Ids& samples = steps_[{loader.epoch(), loader.step()}];
    samples.insert(samples.end(), part.samples.begin(), part.samples.end());
  }
  // By epoch and number, each sorted.
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps() const {
    auto sorted = steps_;
    for (auto& [step, samples] : sorted) std::sort(samples.begin(), samples.end());
    return sorted;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps_;
};

// Meets all ranks, as the exchange of gradients does.
class Exchange {
 public:
  explicit Exchange(int ranks) : ranks_(ranks) {}
  void meet() {
    std::unique_lock<std::mutex> lock(mutex_);
    const long round = round_;
    if (++there_ == ranks_) {
      there_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ranks_;
  int there_ = 0;
  long round_ = 0;
};

using Log = std::vector<CommittedStep>;

// Trains up to `epochs`; checks counts.
Log train(DynamicLoader& loader, std::int64_t epochs, Exchange& exchange, Ledger* ledger, Ids* mine = nullptr) {
  Log log;
  while (loader.epoch() < epochs) {
    while (loader.next_step()) {
      std::int64_t own = 0;
      while (const auto part = loader.next()) {
        const at::Tensor& ids = part->tensors[0];
        EXPECT_EQ(Ids(ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel()),
                  part->samples);
        EXPECT_EQ(part->randomness.size(), part->samples.size());
        own += part->local_count;
        if (ledger) ledger->add(loader, *part);
        if (mine) mine->insert(mine->end(), part->samples.begin(), part->samples.end());
      }
      EXPECT_EQ(loader.local_count(), own);
      exchange.meet();
      log.push_back(loader.commit());
      std::int64_t all = 0;
      for (const auto& part : log.back().parts) all += part.samples;
      EXPECT_EQ(loader.global_count(), all);
    }
  }
  return log;
}

std::map<std::pair<std::int64_t, std::int64_t>, Ids> static_steps(const std::shared_ptr<Dataset>& data,
                                                                  std::int64_t batch_size, std::int64_t epochs,
                                                                  Tail tail) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 5;
  options.tail = tail;
  DataLoader loader(data, options);
  std::map<std::pair<std::int64_t, std::int64_t>, Ids> steps;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const LoadedBatch& batch : loader.epoch(epoch)) {
      Ids& samples = steps[{epoch, batch.number}];
      samples = batch.samples;
      std::sort(samples.begin(), samples.end());
    }
  }
  return steps;
}

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

TEST(DynamicLoader, AStepThatFailsIsNoSamplesFault) {
  DynamicLoader loader(std::make_shared<Numbers>(4), options_of(4, 4), {hash_store(), 1, 0, 1});
  loader.add_transform(custom_step([](Batch&) { throw Error(ErrorCode::kOutOfRange, "no luck"); }));
  ASSERT_TRUE(loader.next_step());
  EXPECT_ERROR(loader.next(), ErrorCode::kOutOfRange, "cannot transform batch 0 of epoch 0", "no luck");
  EXPECT_TRUE(loader.quarantine().empty());
}

TEST(DynamicLoader, CountsWhatItsThreadsDo) {
  DynamicLoaderOptions options = options_of(10, 4);
  options.transforms = {custom_step([](Batch& batch) { batch.tensors[0] = batch.tensors[0].clone(); })};
  DynamicLoader loader(std::make_shared<Numbers>(10), options, {hash_store(), 1, 0, 1});
  EXPECT_EQ(loader.statistics().bottleneck(), LoaderBottleneck::kUnknown);
  ASSERT_TRUE(loader.next_step());
  while (loader.next()) {
  }
  loader.commit();
  const LoaderStatistics statistics = loader.statistics();
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

TEST(DynamicLoader, MemoryAheadStaysWithinItsBytes) {
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

TEST(DynamicLoader, PartsLargerThanItsBytesComeOneByOne) {
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

TEST(DynamicLoader, WhoIsFreeTakesMore) {
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

TEST(DynamicLoader, APartThatFailsEndsItsStepAndNoOther) {
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
TEST(DynamicLoader, APartAheadThatFailsIsNotThisSteps) {
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

TEST(DynamicLoader, ASampleThatFailsIsLeftOutAndNamed) {
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

// Its ranks stop at one moment, each with a part: all are given up together, not one after the other.
TEST(DynamicLoader, TheRanksOfALostHostAreGivenUpTogether) {
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

TEST(DynamicLoader, ARankWithoutASignOfLifeIsGivenUp) {
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

TEST(DynamicLoader, AnOlderGenerationIsFenced) {
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

TEST(DynamicLoader, AbortWakesWhoWaits) {
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

TEST(DynamicLoader, AStepThatIsWholeIsCommittedAfterAnAbort) {
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

TEST(DynamicLoader, SaysWhoIsMissing) {
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

TEST(DynamicLoader, ManyThreadsMakeParts) {
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

TEST(DynamicLoader, TheProgramRefusesSamplesAsWell) {
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

TEST(DynamicLoader, TooManyBrokenSamplesAreAnError) {
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
TEST(DynamicLoader, AQuarantineGoesOn) {
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

TEST(DynamicLoader, TwoLoadersShareAStore) {
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

TEST(DynamicLoader, AStoreThatLostTheQueueIsAnError) {
  const Store store = hash_store();
  DynamicLoaderOptions options = options_of(4, 2);
  options.prefetch = 0;
  DynamicLoader loader(std::make_shared<Numbers>(8), options, {store, 1, 0, 1});
  loader.next_step();
  ASSERT_TRUE(loader.next().has_value());
  ASSERT_TRUE(store->deleteKey("tandem/leases/loader/queue"));
  EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "lost the queue of leases of 'loader'");
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
}  // namespace tandem::testing
