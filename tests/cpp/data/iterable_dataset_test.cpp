#include "tandem/iterable_dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>

#include "cpp/data/expect_error.h"
#include "tandem/loader.h"
#include "tandem/loader_state.h"

namespace tandem::iterable_dataset_test {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;
using Ids = std::vector<std::int64_t>;

// 100 · epoch + seed + 0, 1, 2 …
class Counting : public IterableDataset {
 public:
  explicit Counting(std::int64_t length) : length_(length) {}

  std::unique_ptr<SampleStream> stream(std::uint64_t seed, std::int64_t epoch) override {
    if (closed) throw std::runtime_error("nobody listens");
    return std::make_unique<Stream>(*this, 100 * epoch + static_cast<std::int64_t>(seed));
  }
  std::int64_t size() const override { return declared; }
  std::vector<std::string> names() const override { return {"x"}; }

  std::int64_t declared = -1;
  std::atomic<std::int64_t> broken = -1, odd = -1;
  std::atomic<bool> skips = false, lies = false, closed = false;
  std::atomic<int> open = 0, opened = 0, taken = 0;

 private:
  class Stream : public SampleStream {
   public:
    Stream(Counting& all, std::int64_t first) : all_(all), first_(first) {
      ++all_.open;
      ++all_.opened;
    }
    ~Stream() override { --all_.open; }
    std::optional<std::vector<at::Tensor>> next() override {
      if (at_ == all_.broken) throw Error(ErrorCode::kDataLoss, "it is broken");
      if (at_ == all_.length_) return std::nullopt;
      ++all_.taken;
      const std::int64_t i = at_++;
      return std::vector{i == all_.odd ? at::zeros({2}) : at::scalar_tensor(first_ + i, at::kLong)};
    }
    std::int64_t skip(std::int64_t count) override {
      if (all_.lies) return count + 1;
      if (!all_.skips) return SampleStream::skip(count);
      const std::int64_t there = std::min(count, all_.length_ - at_);
      at_ += there;
      return there;
    }

   private:
    Counting& all_;
    std::int64_t first_;
    std::int64_t at_ = 0;
  };

  std::int64_t length_;
};

LoaderOptions by(std::int64_t batch_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.shuffle = false;
  return options;
}

Ids values(const LoadedBatch& batch) {
  const auto* data = batch["x"].const_data_ptr<std::int64_t>();
  return {data, data + batch["x"].size(0)};
}

TEST(Iterable, ComesInItsOrderWithSeedAndEpoch) {
  for (const int threads : {0, 1, 3}) {
    const auto data = std::make_shared<Counting>(8);
    {
      LoaderOptions options = by(3);
      options.seed = 7;
      options.threads = threads;
      DataLoader loader(data, options);
      EXPECT_EQ(loader.sample_count(), -1);
      EXPECT_EQ(loader.batch_count(), -1);
      EXPECT_EQ(loader.names(), std::vector<std::string>{"x"});
      std::vector<Ids> batches;
      for (LoadedBatch& batch : loader.epoch(2)) batches.push_back(values(batch));
      EXPECT_EQ(batches, (std::vector<Ids>{{207, 208, 209}, {210, 211, 212}, {213, 214}}));
      EXPECT_FALSE(loader.next().has_value());
      EXPECT_EQ(loader.current_epoch(), 3);
      const auto first = *loader.epoch(3).begin();
      EXPECT_EQ(first.samples, (Ids{0, 1, 2}));
      EXPECT_EQ(first.randomness[1], sample_randomness(7, 3, 1));
    }
    EXPECT_EQ(data->open, 0);
  }
}

TEST(Iterable, OneThreadGoesThroughOnce) {
  const auto data = std::make_shared<Counting>(100);
  DataLoader loader(data, by(10));
  for (LoadedBatch& batch : loader.epoch(0)) EXPECT_EQ(batch.global_count, 10);
  EXPECT_EQ(data->opened, 1);
  EXPECT_EQ(data->taken, 100);
}

TEST(Iterable, RanksSkipWhatIsOthers) {
  const auto data = std::make_shared<Counting>(20);
  data->skips = true;
  Ids all;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    LoaderOptions options = by(5);
    options.world_size = 2;
    options.rank = rank;
    DataLoader loader(data, options);
    for (LoadedBatch& batch : loader.epoch(0)) {
      EXPECT_EQ(batch.global_count, 5);
      for (const std::int64_t x : values(batch)) all.push_back(x);
    }
  }
  EXPECT_EQ(data->taken, 20);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST(Iterable, TailsOfUnknownLength) {
  const std::vector<std::tuple<Tail, std::int64_t, std::optional<Ids>>> cases = {
      {Tail::kShort, 0, Ids{4}},     {Tail::kShort, 1, Ids{}},   {Tail::kDrop, 1, std::nullopt},
      {Tail::kPad, 0, Ids{4, 0}},    {Tail::kPad, 1, Ids{0, 0}}, {Tail::kRepeat, 0, Ids{4, 0}},
      {Tail::kRepeat, 1, Ids{1, 2}}, {Tail::kEven, 0, Ids{4}},   {Tail::kEven, 1, Ids{0}}};
  for (const auto& [tail, rank, want] : cases) {
    SCOPED_TRACE(testing::Message() << "tail " << static_cast<int>(tail) << ", rank " << rank);
    LoaderOptions options = by(4);
    options.world_size = 2;
    options.rank = rank;
    options.tail = tail;
    DataLoader loader(std::make_shared<Counting>(5), options);
    EXPECT_EQ(values(*loader.next()), (rank == 0 ? Ids{0, 1} : Ids{2, 3}));
    const auto last = loader.next();
    ASSERT_EQ(last.has_value(), want.has_value());
    if (!want) continue;
    EXPECT_EQ(values(*last), *want);
    EXPECT_FALSE(loader.next().has_value());
  }
  // A rank without samples knows their shapes.
  LoaderOptions options = by(4);
  options.world_size = 2;
  options.rank = 1;
  DataLoader loader(std::make_shared<Counting>(5), options);
  loader.next();
  EXPECT_EQ((*loader.next())["x"].sizes(), at::IntArrayRef({0}));
}

TEST(Iterable, ADeclaredLengthIsHeld) {
  const auto data = std::make_shared<Counting>(10);
  data->declared = 7;
  DataLoader loader(data, by(3));
  EXPECT_EQ(loader.sample_count(), 7);
  EXPECT_EQ(loader.batch_count(), 3);
  Ids all;
  for (LoadedBatch& batch : loader.epoch(0)) {
    for (const std::int64_t x : values(batch)) all.push_back(x);
  }
  EXPECT_EQ(all, (Ids{0, 1, 2, 3, 4, 5, 6}));
  data->declared = 11;
  DataLoader longer(data, by(6));
  longer.next();
  EXPECT_ERROR(longer.next(), ErrorCode::kOutOfRange, "epoch 0 ended after 10", "size of 11", "-1");
}

TEST(Iterable, NamesTheSampleThatFails) {
  for (const int threads : {0, 2}) {
    const auto data = std::make_shared<Counting>(10);
    LoaderOptions options = by(4);
    options.threads = threads;
    data->broken = 5;
    DataLoader loader(data, options);
    loader.next();
    for (int again = 0; again < 2; ++again) {
      EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "cannot load sample 5 of the stream of epoch 0: it is broken");
    }
    data->broken = -1;
    data->odd = 6;
    DataLoader odd(data, options);
    odd.next();
    EXPECT_ERROR(odd.next(), kInvalid, "sample 6 of the stream", "[2]", "sample 4 of the stream");
    data->closed = true;
    EXPECT_ERROR(DataLoader(data, options).next(), ErrorCode::kCallback,
                 "cannot load the stream of epoch 0: nobody listens");
  }
  const auto data = std::make_shared<Counting>(10);
  data->lies = true;
  LoaderOptions options = by(4);
  options.world_size = 2;
  EXPECT_ERROR(DataLoader(data, options).next(), kInvalid, "skip 2 samples", "says 3");
}

TEST(Iterable, SaysWhatItCannotDo) {
  const auto data = std::make_shared<Counting>(10);
  LoaderOptions options = by(4);
  options.shuffle = true;
  EXPECT_ERROR(DataLoader(data, options), kInvalid, "its own order", "shuffle to false");
  options.shuffle = false;
  options.shuffle_block = 4;
  EXPECT_ERROR(DataLoader(data, options), kInvalid, "its own order", "shuffle_block to 0");
  options.shuffle_block = 0;
  options.order = sequential_order(10);
  EXPECT_ERROR(DataLoader(data, options), kInvalid, "its own order", "no other");
  EXPECT_ERROR(DataLoader(std::shared_ptr<IterableDataset>(), by(1)), kInvalid, "no data set");
}

TEST(Iterable, RestoringGoesThroughWhatWasBefore) {
  const auto data = std::make_shared<Counting>(20);
  std::string state;
  {  // it reads ahead until it ends
    DataLoader loader(data, by(3));
    loader.next();
    loader.next();
    loader.commit();
    state = loader.state();
  }
  EXPECT_EQ(LoaderState::parse(state).position, 6);
  data->taken = 0;
  LoaderOptions options = by(5);
  options.threads = 0;
  DataLoader again(data, options);
  again.restore(state);
  EXPECT_EQ(values(*again.next()), (Ids{6, 7, 8, 9, 10}));
  EXPECT_EQ(data->taken, 11);
  data->declared = 20;
  EXPECT_ERROR(DataLoader(data, options).restore(state), kInvalid, "another data set");
}

}  // namespace
}  // namespace tandem::iterable_dataset_test
