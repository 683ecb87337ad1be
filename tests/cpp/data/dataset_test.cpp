#include "tandem/dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cpp/data/expect_error.h"
#include "tandem/loader.h"

namespace tandem::dataset_test {
namespace {

// Sample i: [i, i²], and 2i.
class Squares : public Dataset {
 public:
  explicit Squares(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (i == broken) throw Error(ErrorCode::kDataLoss, "it is broken");
    if (i == odd) return {at::zeros({3}), at::zeros({})};
    if (i == lone) return {at::zeros({2})};
    return {at::tensor({static_cast<float>(i), static_cast<float>(i * i)}), at::scalar_tensor(2 * i, at::kLong)};
  }

  std::int64_t broken = -1, odd = -1, lone = -1;

 private:
  std::int64_t size_;
};

// Each record has memory of its own, as those of compressed chunks.
class Owned : public RecordSource {
 public:
  std::int64_t size() const override { return 64; }
  Record read(std::int64_t i) override {
    most = std::max(most, ++alive_);
    const auto byte = std::shared_ptr<std::uint8_t>(new std::uint8_t(static_cast<std::uint8_t>(i)), [this](auto* gone) {
      --alive_;
      delete gone;
    });
    return {{byte.get(), 1}, byte};
  }
  std::string place(std::int64_t i) const override { return "record " + std::to_string(i); }
  std::uint64_t fingerprint() const override { return 0; }

  int most = 0;  // that were in memory at once

 private:
  int alive_ = 0;
};

LoaderOptions in_sequence(std::int64_t batch_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.shuffle = false;
  return options;
}

TEST(Dataset, OfOnesOwnIsStacked) {
  LoaderOptions options = in_sequence(4);
  options.tail = Tail::kPad;
  DataLoader loader(std::make_shared<Squares>(6), options);
  EXPECT_TRUE((*loader.next())[0].equal(at::tensor({0.f, 0.f, 1.f, 1.f, 2.f, 4.f, 3.f, 9.f}).view({4, 2})));
  const auto last = loader.next();
  EXPECT_TRUE((*last)[0].equal(at::tensor({4.f, 16.f, 5.f, 25.f, 0.f, 0.f, 0.f, 0.f}).view({4, 2})));
  EXPECT_TRUE((*last)[1].equal(at::tensor({8, 10, 0, 0}, at::kLong)));
  EXPECT_ERROR((*last)["x"], ErrorCode::kNotFound, "'x'");
}

TEST(Dataset, RanksWithoutSamplesGetTheShapes) {
  LoaderOptions options = in_sequence(2);
  options.rank = 2;
  options.world_size = 3;
  const auto batch = DataLoader(std::make_shared<Squares>(2), options).next();
  EXPECT_EQ((*batch)[0].sizes(), at::IntArrayRef({0, 2}));
  EXPECT_EQ((*batch)[1].sizes(), at::IntArrayRef({0}));
}

TEST(Dataset, SamplesThatFailAreNamed) {
  const auto first_error = [](std::int64_t Squares::*which) {
    const auto squares = std::make_shared<Squares>(10);
    (*squares).*which = 2;
    LoaderOptions options = in_sequence(4);
    options.threads = 2;
    DataLoader(squares, options).next();
  };
  EXPECT_ERROR(first_error(&Squares::broken), ErrorCode::kDataLoss, "cannot load sample 2: it is broken");
  EXPECT_ERROR(first_error(&Squares::odd), ErrorCode::kInvalidArgument, "sample 2", "[3]", "sample 0", "[2]");
  EXPECT_ERROR(first_error(&Squares::lone), ErrorCode::kInvalidArgument, "sample 2 has 1 tensors", "has 2");
}

TEST(Dataset, OfRecordsLetsTheirMemoryGo) {
  const auto source = std::make_shared<Owned>();
  RecordField number;
  number.out_dtype = at::kLong;
  const std::int64_t samples[] = {63, 5, 17, 5, 0};
  EXPECT_TRUE(
      record_dataset(source, {number})->get_batch(samples, 6)[0].equal(at::tensor({63, 5, 17, 5, 0, 0}, at::kLong)));
  EXPECT_EQ(source->most, 1);
}

TEST(Dataset, OfTensors) {
  const at::Tensor x = at::arange(12, at::kFloat).view({2, 6}).t();  // not contiguous
  const at::Tensor y = at::arange(6, at::kByte);
  const auto data = tensor_dataset({x, y}, {"x", "y"});
  LoaderOptions options;
  options.batch_size = 4;
  options.tail = Tail::kPad;
  DataLoader loader(data, options);
  const auto batch = loader.next();
  const at::Tensor samples = at::tensor(batch->samples, at::kLong);
  EXPECT_TRUE((*batch)["x"].equal(x.index_select(0, samples)));
  EXPECT_TRUE((*batch)["y"].equal(samples.to(at::kByte)));
  EXPECT_TRUE(data->get(3)[0].equal(x[3]));
  EXPECT_EQ(tensor_dataset({x.clone(), y})->fingerprint(), data->fingerprint());
  EXPECT_NE(tensor_dataset({x + 1, y})->fingerprint(), data->fingerprint());
  EXPECT_NE(Squares(5).fingerprint(), Squares(6).fingerprint());
}

TEST(Dataset, OfTensorsRefusesWhatCannotBe) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  EXPECT_ERROR(tensor_dataset({}), kInvalid, "at least one");
  EXPECT_ERROR(tensor_dataset({at::zeros({2}), at::zeros({3})}), kInvalid, "tensor 1 has 3 rows", "has 2");
  EXPECT_ERROR(tensor_dataset({at::zeros({})}), kInvalid, "scalar");
  EXPECT_ERROR(tensor_dataset({at::Tensor()}), kInvalid, "tensor 0");
  EXPECT_ERROR(tensor_dataset({at::zeros({2})}, {"a", "b"}), kInvalid, "2 names for 1");
}

// Counts what was made and not yet delivered.
class Counting : public Squares {
 public:
  using Squares::Squares;
  std::vector<at::Tensor> get_batch(std::span<const std::int64_t> samples, std::int64_t rows) override {
    ++made;
    return {at::zeros({rows, 1000}, at::kByte), at::full({}, samples[0])};
  }
  std::atomic<int> made = 0;
};

TEST(Prefetch, StaysWithinItsBytes) {
  const auto data = std::make_shared<Counting>(100);
  LoaderOptions options = in_sequence(1);
  options.threads = 4;
  options.prefetch = 50;
  options.prefetch_bytes = 5100;  // five batches of 1008
  DataLoader loader(data, options);
  loader.start_epoch(0);
  for (int delivered = 0; delivered < 100; ++delivered) {
    // What is to come is made without being asked for, and no more than that.
    const int most = std::min(delivered + 5, 100);
    while (data->made < most) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(delivered < 3 ? 20 : 0));
    ASSERT_LE(data->made, most);
    loader.next();
  }
}

TEST(Prefetch, BatchesLargerThanItComeOneByOne) {
  const auto data = std::make_shared<Counting>(10);
  LoaderOptions options = in_sequence(1);
  options.threads = 2;
  options.prefetch_bytes = 0;
  DataLoader loader(data, options);
  loader.start_epoch(0);
  for (int i = 0; i < 10; ++i) {
    ASSERT_LE(data->made, i + 1);
    ASSERT_TRUE(loader.next().has_value());
  }
  EXPECT_FALSE(loader.next().has_value());
}

}  // namespace
}  // namespace tandem::dataset_test
