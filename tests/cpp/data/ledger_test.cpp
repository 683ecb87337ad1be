// Which samples training sees, kept like a ledger: each once an epoch, whatever the number of ranks, wherever it stops.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/derived_datasets.h"
#include "tandem/loader.h"
#include "tandem/loader_state.h"
#include "tandem/recordio.h"
#include "tandem/samplers.h"

namespace tandem::ledger_test {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr int kSamples = 47;
constexpr int kEpochs = 3;

// Where samples come from.
enum class Data { kRecords, kOwn, kConcat, kSubset, kSplit, kMap, kStream, kStreamOfSize };
// In place of a shuffle.
enum class Visit { kByOptions, kByLength, kBatches, kSubset, kWeighted, kListed };

class Own : public Dataset {
 public:
  Own(std::int64_t first, std::int64_t size) : first_(first), size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::string> names() const override { return {"id"}; }
  std::vector<at::Tensor> get(std::int64_t i) override { return {at::scalar_tensor(first_ + i, at::kLong)}; }

 private:
  std::int64_t first_;
  std::int64_t size_;
};

class OwnStream : public IterableDataset {
 public:
  explicit OwnStream(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<std::string> names() const override { return {"id"}; }
  std::unique_ptr<SampleStream> stream(std::uint64_t seed, std::int64_t epoch) override {
    return std::make_unique<Stream>(seed, epoch);
  }

 private:
  struct Stream : SampleStream {
    Stream(std::uint64_t seed, std::int64_t epoch) : order(kSamples, seed, static_cast<std::uint64_t>(epoch)) {}
    std::optional<std::vector<at::Tensor>> next() override {
      if (at == kSamples) return std::nullopt;
      return std::vector{at::scalar_tensor(order(at++), at::kLong)};
    }
    Permutation order;
    std::int64_t at = 0;
  };
  std::int64_t size_;
};

Ids counted(std::int64_t first, std::int64_t count) {
  Ids numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::shared_ptr<const SampleOrder> order_of(Visit visit, std::int64_t batch_size) {
  Ids lengths = counted(0, kSamples);
  for (std::int64_t& length : lengths) length = length * 13 % 10;
  switch (visit) {
    case Visit::kByOptions:
      return nullptr;
    case Visit::kByLength:
      return length_bucketed_order(lengths, batch_size, 2);
    case Visit::kBatches:
      return batch_order(counted(0, kSamples), batch_size, true);
    case Visit::kSubset:
      return subset_order(counted(0, kSamples), true);
    case Visit::kWeighted:
      return weighted_order_without_replacement(std::vector<double>(kSamples, 0.5), kSamples);
    case Visit::kListed:
      return listed_order("every third", kSamples, [](auto, std::int64_t epoch, std::span<std::int64_t> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = (3 * static_cast<std::int64_t>(i) + epoch) % kSamples;
      });
  }
  return nullptr;
}

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    for (const std::string name : {"a", "b"}) {
      RecordIOWriter writer(paths_.emplace_back(dir_ / name), {Compressor::kSnappy, 40});
      for (int i = 0; i < (name == "a" ? 20 : kSamples - 20); ++i) {
        const std::int32_t number = written_++;
        writer.write(&number, sizeof number);
      }
      writer.close();
    }
  }

  std::unique_ptr<DataLoader> open(const LoaderOptions& options, Data data = Data::kRecords) const {
    if (data == Data::kStream || data == Data::kStreamOfSize) {
      const auto stream = std::make_shared<OwnStream>(data == Data::kStream ? -1 : kSamples);
      return std::make_unique<DataLoader>(stream, options);
    }
    return std::make_unique<DataLoader>(dataset(data), options);
  }

  std::shared_ptr<Dataset> dataset(Data data) const {
    switch (data) {
      case Data::kOwn:
        return std::make_shared<Own>(0, kSamples);
      case Data::kConcat:
        return concat_dataset({std::make_shared<Own>(0, 9), tensor_dataset({at::arange(9, 30)}, {"id"}),
                               std::make_shared<Own>(30, kSamples - 30)});
      case Data::kSubset:
        return subset_dataset(dataset(Data::kRecords), counted(0, kSamples));
      case Data::kSplit:
        return random_split(std::make_shared<Own>(0, kSamples + 13), {13, kSamples}, 5)[1];
      case Data::kMap:
        return map_dataset(dataset(Data::kRecords),
                           [](std::vector<at::Tensor> sample) { return std::vector{sample[0] + 1}; });
      default:
        return record_dataset(paths_, {{"id", at::kInt, {}, at::kLong}});
    }
  }

  test::TempDir dir_;
  std::vector<std::string> paths_;
  std::int32_t written_ = 0;
};

// What the ranks of a world were given for one global batch, one after the other.
struct Step {
  std::int64_t epoch;
  std::int64_t number;
  Ids samples;

  bool operator==(const Step&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << step.epoch << "/" << step.number << ": " << testing::PrintToString(step.samples);
}

// All ranks of a run, which go through it in step.
class World {
 public:
  explicit World(std::vector<std::unique_ptr<DataLoader>> loaders) : loaders_(std::move(loaders)) {}

  // The next step, or nothing at the end of an epoch, which all ranks reach together.
  std::optional<Step> next() {
    Step step{};
    std::size_t ended = 0;
    std::int64_t global = 0;
    for (const auto& loader : loaders_) {
      const auto batch = loader->next();
      if (!batch) {
        ++ended;
        continue;
      }
      const at::Tensor& ids = (*batch)["id"];
      EXPECT_EQ(ids.size(0), batch->rows);
      const auto* first = ids.const_data_ptr<std::int64_t>();
      step.epoch = batch->epoch;
      step.number = batch->number;
      step.samples.insert(step.samples.end(), first, first + batch->local_count);
      global = batch->global_count;
    }
    EXPECT_TRUE(ended == 0 || ended == loaders_.size());
    if (ended > 0) return std::nullopt;
    EXPECT_EQ(global, static_cast<std::int64_t>(step.samples.size()));
    return step;
  }
  void commit() {
    for (const auto& loader : loaders_) loader->commit();
  }
  // The same on every rank.
  std::string state() const {
    const std::string state = loaders_[0]->state();
    for (const auto& loader : loaders_) EXPECT_EQ(loader->state(), state);
    return state;
  }
  void restore(const std::string& state) {
    for (const auto& loader : loaders_) loader->restore(state);
  }
  std::int64_t current_epoch() const { return loaders_[0]->current_epoch(); }
  void start_epoch(std::int64_t epoch) {
    for (const auto& loader : loaders_) loader->start_epoch(epoch);
  }
  // What is left of training for kEpochs.
  std::vector<Step> train() {
    std::vector<Step> steps;
    for (std::int64_t epoch = current_epoch(); epoch < kEpochs; ++epoch) {
      start_epoch(epoch);
      while (auto step = next()) steps.push_back(*step);
    }
    return steps;
  }

 private:
  std::vector<std::unique_ptr<DataLoader>> loaders_;
};

struct Case {
  bool shuffle;
  std::int64_t block;
  std::int64_t batch_size;
  Tail tail;
  Data data = Data::kRecords;
  Visit visit = Visit::kByOptions;
};

class Ledger : public LedgerTest, public testing::WithParamInterface<Case> {
 protected:
  World world_of(std::int64_t size) const {
    std::vector<std::unique_ptr<DataLoader>> loaders;
    for (std::int64_t rank = 0; rank < size; ++rank) {
      LoaderOptions options;
      options.batch_size = GetParam().batch_size;
      options.rank = rank;
      options.world_size = size;
      options.shuffle = GetParam().shuffle;
      options.shuffle_block = GetParam().block;
      options.shuffle_window = 2;
      options.seed = 99;
      options.tail = GetParam().tail;
      options.threads = static_cast<int>(rank % 3);
      options.prefetch = 3;
      options.order = order_of(GetParam().visit, GetParam().batch_size);
      loaders.push_back(open(options, GetParam().data));
    }
    return World(std::move(loaders));
  }
};

TEST_P(Ledger, EverySampleOnceAnEpochForEveryWorldSize) {
  const std::vector<Step> expected = world_of(1).train();
  for (std::int64_t size = 1; size <= 5; ++size) {
    const std::vector<Step> steps = world_of(size).train();
    // The sequence of global batches, to their order within, is that of one rank.
    ASSERT_EQ(steps, expected) << "world size " << size;
  }
  std::map<std::int64_t, std::map<std::int64_t, int>> times;  // by epoch and sample
  for (const Step& step : expected) {
    for (const std::int64_t sample : step.samples) ++times[step.epoch][sample];
  }
  ASSERT_EQ(times.size(), static_cast<std::size_t>(kEpochs));
  const std::int64_t batch_size = GetParam().batch_size;
  for (const auto& [epoch, samples] : times) {
    int once = 0, more = 0;
    for (const auto& [sample, count] : samples) (count == 1 ? once : more) += 1;
    switch (GetParam().tail) {
      case Tail::kDrop:
        EXPECT_EQ(once, kSamples / batch_size * batch_size);
        EXPECT_EQ(more, 0);
        break;
      case Tail::kRepeat:
        EXPECT_EQ(once + more, kSamples);
        EXPECT_EQ(more, (batch_size - kSamples % batch_size) % batch_size);
        break;
      default:
        EXPECT_EQ(once, kSamples);
    }
  }
}

TEST_P(Ledger, ResumesAtEveryStep) {
  const std::vector<Step> expected = world_of(2).train();
  for (std::size_t stop = 0; stop <= expected.size(); ++stop) {
    // Another number of ranks goes on where the first stopped, in the middle of an epoch or at its end.
    for (const std::int64_t size : {1, 2, 3}) {
      World before = world_of(2);
      std::vector<Step> steps;
      while (steps.size() < stop) {
        const auto step = before.next();
        if (!step) {
          before.start_epoch(before.current_epoch());
        } else {
          steps.push_back(*step);
          before.commit();
        }
      }
      const std::string state = before.state();
      EXPECT_LT(state.size(), 256u);
      World after = world_of(size);
      after.restore(state);
      EXPECT_EQ(after.state(), state);
      const auto rest = after.train();
      steps.insert(steps.end(), rest.begin(), rest.end());
      ASSERT_EQ(steps, expected) << "after " << stop << " steps, on " << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ledger,
                         testing::Values(Case{true, 0, 8, Tail::kShort}, Case{true, 0, 7, Tail::kPad},
                                         Case{true, 6, 5, Tail::kPad}, Case{true, 0, 9, Tail::kDrop},
                                         Case{false, 0, 10, Tail::kRepeat}, Case{true, 0, 3, Tail::kShort},
                                         Case{true, 0, 47, Tail::kDrop}));

INSTANTIATE_TEST_SUITE_P(Datasets, Ledger,
                         testing::Values(Case{true, 0, 8, Tail::kShort, Data::kOwn},
                                         Case{true, 0, 7, Tail::kPad, Data::kConcat},
                                         Case{true, 6, 5, Tail::kShort, Data::kSubset},
                                         Case{true, 0, 9, Tail::kDrop, Data::kSplit},
                                         Case{true, 0, 10, Tail::kRepeat, Data::kMap}));

INSTANTIATE_TEST_SUITE_P(Streams, Ledger,
                         testing::Values(Case{false, 0, 8, Tail::kShort, Data::kStream},
                                         Case{false, 0, 7, Tail::kPad, Data::kStream},
                                         Case{false, 0, 9, Tail::kDrop, Data::kStream},
                                         Case{false, 0, 10, Tail::kRepeat, Data::kStream},
                                         Case{false, 0, 47, Tail::kShort, Data::kStream},
                                         Case{false, 0, 8, Tail::kShort, Data::kStreamOfSize},
                                         Case{false, 0, 10, Tail::kRepeat, Data::kStreamOfSize}));

INSTANTIATE_TEST_SUITE_P(Samplers, Ledger,
                         testing::Values(Case{true, 0, 8, Tail::kShort, Data::kRecords, Visit::kByLength},
                                         Case{true, 0, 7, Tail::kPad, Data::kRecords, Visit::kBatches},
                                         Case{true, 0, 9, Tail::kDrop, Data::kRecords, Visit::kSubset},
                                         Case{true, 0, 10, Tail::kRepeat, Data::kRecords, Visit::kWeighted},
                                         Case{true, 0, 8, Tail::kShort, Data::kOwn, Visit::kListed}));

using State = LedgerTest;

LoaderOptions options_of(std::int64_t batch_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.threads = 2;
  options.prefetch = 4;
  return options;
}

LoaderState state_of(const DataLoader& loader) {
  return LoaderState::parse(loader.state());
}

TEST_F(State, CountsWhatIsCommittedNotWhatIsMadeAhead) {
  const auto loader = open(options_of(10));
  EXPECT_EQ(state_of(*loader).position, 0);
  loader->next();
  EXPECT_EQ(state_of(*loader).position, 0);  // the optimizer may not have stepped yet
  loader->commit();
  EXPECT_EQ(state_of(*loader).position, 10);
  loader->commit();
  EXPECT_EQ(state_of(*loader).position, 10);
  loader->next();
  EXPECT_EQ(state_of(*loader).position, 10);
  loader->next();  // who asks for the next is done with the last
  EXPECT_EQ(state_of(*loader).position, 20);
  loader->next();
  loader->next();
  loader->commit();  // the epoch's last one
  EXPECT_EQ(state_of(*loader).epoch, 1);
  EXPECT_EQ(state_of(*loader).position, 0);
  EXPECT_FALSE(loader->next().has_value());
  EXPECT_EQ(loader->current_epoch(), 1);
}

TEST_F(State, RestoreTakesTheSeedAndStartsWhereItWas) {
  LoaderOptions options = options_of(10);
  options.seed = 5;
  const auto first = open(options);
  first->start_epoch(7);
  first->next();
  const auto second = first->next();
  const std::string state = first->state();
  options.seed = 6;
  const auto again = open(options);
  again->restore(state);
  EXPECT_EQ(again->current_epoch(), 7);
  const auto batch = again->next();  // without start_epoch()
  EXPECT_EQ(batch->epoch, 7);
  EXPECT_EQ(batch->number, 1);
  EXPECT_EQ(batch->samples, second->samples);
  EXPECT_EQ(batch->randomness, second->randomness);
  again->start_epoch(7);  // the second time: from its start
  EXPECT_EQ(again->next()->number, 0);
  const auto chosen = open(options);
  chosen->restore(state);
  chosen->start_epoch(7, 0);
  EXPECT_EQ(chosen->next()->number, 0);
}

TEST_F(State, AnotherBatchSizeGoesOnAtTheSameSample) {
  const auto loader = open(options_of(10));
  std::map<std::int64_t, int> times;
  const LoadedBatch before = *loader->next();
  for (const std::int64_t sample : before.samples) ++times[sample];
  loader->commit();
  const auto other = open(options_of(7));
  other->restore(loader->state());
  for (LoadedBatch& batch : other->epoch(0)) {
    for (const std::int64_t sample : batch.samples) ++times[sample];
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(kSamples));
  for (const auto& [sample, count] : times) EXPECT_EQ(count, 1) << sample;
}

TEST_F(State, RestoreRefuses) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  const auto loader = open(options_of(10));
  loader->next();
  const std::string state = loader->state();
  EXPECT_ERROR(loader->restore(state), kInvalid, "begun already");
  const auto started = open(options_of(10));
  started->start_epoch(0);
  EXPECT_ERROR(started->restore(state), kInvalid, "begun already");

  // Another data set of as many samples, in as many chunks of the same size.
  for (const std::string& path : paths_) {
    const std::int64_t size = RecordIOReader(path).size();
    RecordIOWriter writer(path, {Compressor::kSnappy, 40});
    for (std::int64_t i = 0; i < size; ++i) {
      const auto number = static_cast<std::int32_t>(1000 + i);
      writer.write(&number, sizeof number);
    }
    writer.close();
  }
  const auto other = open(options_of(10));
  char theirs[17], ours[17];
  std::snprintf(theirs, sizeof theirs, "%016lx", state_of(*loader).fingerprint);
  std::snprintf(ours, sizeof ours, "%016lx", state_of(*other).fingerprint);
  EXPECT_STRNE(theirs, ours);
  EXPECT_ERROR(other->restore(state), kInvalid, "another data set", theirs, ours);
  EXPECT_ERROR(other->restore("nonsense"), ErrorCode::kDataLoss, "no state");
  other->next();  // and is as it was
}

TEST_F(State, RestoreRefusesAnotherOrder) {
  LoaderOptions options = options_of(10);
  const std::string state = open(options)->state();
  options.shuffle = false;
  EXPECT_ERROR(open(options)->restore(state), ErrorCode::kInvalidArgument, "'shuffle'", "'in sequence'");
  options.shuffle = true;
  options.shuffle_block = 4;
  EXPECT_ERROR(open(options)->restore(state), ErrorCode::kInvalidArgument, "'shuffle'", "'block shuffle of 4 in 16'");
  options.order = subset_order({3, 4, 5}, true);
  EXPECT_ERROR(open(options)->restore(state), ErrorCode::kInvalidArgument, "'shuffle'", "'shuffled subset");
  const std::string of_three = open(options)->state();
  options.order = subset_order({3, 4, 6}, true);
  EXPECT_ERROR(open(options)->restore(of_three), ErrorCode::kInvalidArgument, "'shuffled subset");
}

TEST_F(State, AnOrderOfOnesOwnIsChecked) {
  LoaderOptions options = options_of(10);
  options.order = subset_order({3, kSamples}, false);
  EXPECT_ERROR(open(options)->next(), ErrorCode::kOutOfRange, "listed subset", "sample 47", "has 47");
  options.order = listed_order(std::string(81, 'n'), 3, [](auto, auto, auto) {});
  EXPECT_ERROR(open(options), ErrorCode::kInvalidArgument, "81 bytes", "room for 80");
  options.order = listed_order("forgetful", 3, [](auto, auto, auto) {});
  EXPECT_ERROR(open(options)->next(), ErrorCode::kOutOfRange, "'forgetful' gives sample -1");
}

}  // namespace
}  // namespace tandem::ledger_test
