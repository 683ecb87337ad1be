// What a loader's threads do with batches: transforms, steps of one's own, statistics.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "cpp/data/expect_error.h"
#include "tandem/batch_transform.h"
#include "tandem/loader.h"
#include "tandem/sample_order.h"

namespace tandem::loader_steps_test {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Dataset> numbers(std::int64_t count) {
  return tensor_dataset({at::arange(count), at::arange(count * 12, at::kFloat).view({count, 3, 2, 2})},
                        {"id", "image"});
}

LoaderOptions with(std::vector<std::shared_ptr<BatchTransform>> transforms, LoaderOptions options = {}) {
  options.transforms = std::move(transforms);
  return options;
}

TEST(LoaderSteps, TransformsFollowFromSeedEpochAndSample) {
  const auto run = [](std::int64_t ranks, int threads) {
    std::vector<at::Tensor> images(20);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      DataLoader loader(numbers(20),
                        with({random_horizontal_flip({"image"}), to_float({"image"}, 2)},
                             {.batch_size = 6, .rank = rank, .world_size = ranks, .seed = 3, .threads = threads}));
      for (const LoadedBatch& batch : loader.epoch(1)) {
        for (std::int64_t i = 0; i < batch.local_count; ++i)
          images[static_cast<std::size_t>(batch["id"][i].item<std::int64_t>())] = batch["image"][i];
      }
    }
    return at::stack(images);
  };
  const at::Tensor alone = run(1, 0), plain = at::arange(240, at::kFloat).view({20, 3, 2, 2}) * 2;
  EXPECT_TRUE(run(3, 2).equal(alone));
  int flipped = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(alone[i].equal(plain[i]) || alone[i].equal(plain[i].flip(2))) << i;
    flipped += !alone[i].equal(plain[i]);
  }
  EXPECT_GT(flipped, 2);
  EXPECT_LT(flipped, 18);
}

TEST(LoaderSteps, AStepOfOnesOwnReplacesAndAddsFieldsInTheLoadersThreads) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> most_threads{0};
  DataLoader loader(numbers(12), {.batch_size = 3, .seed = 9, .threads = 2});
  loader.add_transform(custom_step(
      [&](Batch& batch) {
        EXPECT_FALSE(at::GradMode::is_enabled());
        if (at::get_num_threads() > most_threads) most_threads = at::get_num_threads();
        field_of(batch, "image") = field_of(batch, "image") + 1;
        batch.names.push_back("twice");
        batch.tensors.push_back(field_of(batch, "id") * 2);
        const std::lock_guard<std::mutex> lock(mutex);
        threads.insert(std::this_thread::get_id());
        for (std::size_t i = 0; i < batch.sample_randomness.size(); ++i) {
          const auto id = batch.tensors[0][static_cast<std::int64_t>(i)].item<std::int64_t>();
          EXPECT_EQ(batch.sample_randomness[i], sample_randomness(9, 0, id));
        }
      },
      {"twice"}));
  EXPECT_EQ(loader.names(), (std::vector<std::string>{"id", "image", "twice"}));
  std::int64_t rows = 0;
  for (const LoadedBatch& batch : loader.epoch(0)) {
    EXPECT_TRUE(batch["twice"].equal(batch["id"] * 2));
    EXPECT_EQ(batch["image"][0][0][0][0].item<float>(), batch["id"][0].item<float>() * 12 + 1);
    rows += batch.rows;
  }
  EXPECT_EQ(rows, 12);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  EXPECT_EQ(most_threads, 1);
  EXPECT_ERROR(loader.add_transform(to_float({"image"})), ErrorCode::kInvalidArgument, "has begun already");
}

TEST(LoaderSteps, APartWithoutSamplesComesOutLikeOthers) {
  DataLoader loader(numbers(1), with({random_crop({"image"}, {1, 1}), one_hot({"id"}, 4)},
                                     {.batch_size = 2, .rank = 1, .world_size = 2}));
  const auto batch = loader.next();
  EXPECT_EQ((*batch)["image"].sizes(), at::IntArrayRef({0, 3, 1, 1}));
  EXPECT_EQ((*batch)["id"].sizes(), at::IntArrayRef({0, 4}));
  EXPECT_EQ((*batch)["id"].scalar_type(), at::kFloat);
}

TEST(LoaderSteps, RowsOfZerosPassTheSteps) {
  DataLoader loader(numbers(3), with({random_horizontal_flip({"image"})}, {.batch_size = 4, .tail = Tail::kPad}));
  const auto batch = loader.next();
  EXPECT_EQ((*batch)["image"].sizes(), at::IntArrayRef({4, 3, 2, 2}));
  EXPECT_EQ((*batch)["image"][3].abs().sum().item<float>(), 0);
  EXPECT_EQ(batch->randomness.size(), 3U);
}

TEST(LoaderSteps, ErrorsNameBatchAndSample) {
  DataLoader loader(numbers(8), with({one_hot({"id"}, 5)}, {.batch_size = 4, .shuffle = false}));
  EXPECT_EQ(loader.next()->rows, 4);
  EXPECT_ERROR(loader.next(), ErrorCode::kOutOfRange, "cannot transform batch 1 of epoch 0 (sample 4 and 3 more)",
               "one_hot", "'id'");
  DataLoader fails(numbers(4), with({custom_step([](Batch&) { throw std::runtime_error("mine"); })}));
  EXPECT_THROW(fails.next(), std::runtime_error);
  DataLoader forgets(numbers(4), with({custom_step([](Batch&) {}, {"mask"})}));
  EXPECT_ERROR(forgets.next(), ErrorCode::kInvalidArgument, "left fields 'id', 'image'", "'mask'");
  EXPECT_ERROR(DataLoader(numbers(4), with({custom_step([](Batch&) {}, {"id"})})), ErrorCode::kInvalidArgument, "'id'");
  EXPECT_ERROR(custom_step({}), ErrorCode::kInvalidArgument, "function");
  EXPECT_ERROR(DataLoader(numbers(4), with({nullptr})), ErrorCode::kInvalidArgument, "no transform");
}

TEST(LoaderSteps, PinnedMemoryNeedsCuda) {
  LoaderOptions options;
  options.pin_memory = true;
  EXPECT_ERROR(DataLoader(numbers(4), options), ErrorCode::kUnsupported, "without CUDA");
}

// Batches that views make small keep what they are views of.
TEST(LoaderSteps, MemoryAheadIsCountedAsItIsHeld) {
  constexpr std::int64_t kBytes = 1 << 20;
  std::atomic<int> made{0};
  LoaderOptions options{.batch_size = 1, .shuffle = false, .threads = 1, .prefetch = 100};
  options.prefetch_bytes = 4 * kBytes;
  DataLoader loader(numbers(32), options);
  loader.add_transform(custom_step([&](Batch& batch) {
    ++made;
    field_of(batch, "image") = at::zeros({kBytes}, at::kByte).narrow(0, 0, 1);
  }));
  loader.start_epoch(0);
  int given = 0;
  while (loader.next()) {
    ++given;
    EXPECT_LE(made, given + 4);
  }
  EXPECT_EQ(given, 32);
  EXPECT_LE(loader.statistics().most_bytes_ready, options.prefetch_bytes);
  EXPECT_GE(loader.statistics().bytes, 32 * kBytes);
}

// A data set whose samples take a while.
class Slow : public Dataset {
 public:
  std::int64_t size() const override { return 16; }
  std::vector<at::Tensor> get(std::int64_t index) override {
    std::this_thread::sleep_for(2ms);
    return {at::full({1}, index)};
  }
  std::vector<std::string> names() const override { return {"x"}; }
};

TEST(LoaderStatistics, TimesAreThoseOfTheirStages) {
  DataLoader loader(std::make_shared<Slow>(), {.batch_size = 4, .threads = 1});
  EXPECT_EQ(loader.statistics().bottleneck(), LoaderBottleneck::kUnknown);
  loader.add_transform(custom_step([](Batch&) { std::this_thread::sleep_for(4ms); }));
  loader.start_epoch(0);
  while (loader.next()) std::this_thread::sleep_for(2ms);
  const LoaderStatistics counted = loader.statistics();
  EXPECT_GE(counted.decoding, 32ms);
  EXPECT_GE(counted.transforming, 16ms);
  EXPECT_GE(counted.computing, 8ms);
  EXPECT_GE(counted.waiting, 12ms);  // the first batch's
  EXPECT_EQ(counted.reading.count() + counted.pinning.count(), 0);
  EXPECT_EQ(counted.batches, 4);
  EXPECT_EQ(counted.delivered, 4);
  EXPECT_EQ(counted.samples, 16);
  EXPECT_EQ(counted.bytes, 16 * 8);
  EXPECT_EQ(counted.threads, 1);
}

TEST(LoaderStatistics, AThreadWithoutRoomWaits) {
  DataLoader loader(numbers(8), {.batch_size = 1, .threads = 1, .prefetch = 1});
  loader.start_epoch(0);
  while (loader.next()) {
    const std::int64_t delivered = loader.statistics().delivered;
    while (delivered < 8 && loader.statistics().batches == delivered) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);  // in which the one that is ready leaves no room for another
  }
  EXPECT_GT(loader.statistics().waiting_for_room.count(), 0);
}

TEST(LoaderStatistics, TheBottleneckIsNamedInOneLine) {
  LoaderStatistics statistics;
  EXPECT_EQ(statistics.bottleneck(), LoaderBottleneck::kUnknown);
  EXPECT_EQ(statistics.text(), "0 batches, none of which the program asked for");
  statistics.batches = statistics.delivered = 120;
  statistics.threads = 2;
  statistics.reading = 124ms;
  statistics.decoding = 2511ms;
  statistics.transforming = 465ms;
  statistics.waiting_for_room = 200ms;
  statistics.waiting = 1200ms;
  statistics.computing = 1700ms;
  EXPECT_EQ(statistics.bottleneck(), LoaderBottleneck::kDecoding);
  EXPECT_EQ(
      statistics.text(),
      "120 batches: reading 4%, decoding 81%, transforming 15% of 3.1 s of 2 threads, which waited 0.2 s for room; "
      "the program waited 1.2 s of 2.9 s (41%): decoding is the bottleneck");
  statistics.transforming = 5s;
  EXPECT_EQ(statistics.bottleneck(), LoaderBottleneck::kTransforming);
  statistics.copying = 6s;
  EXPECT_EQ(statistics.bottleneck(), LoaderBottleneck::kCopying);
  EXPECT_NE(statistics.text().find("copying 44% of 13.6 s"), std::string::npos) << statistics.text();
  statistics.copying = 0s;
  statistics.waiting = 100ms;
  EXPECT_EQ(statistics.bottleneck(), LoaderBottleneck::kProgram);
  statistics.threads = 0;
  EXPECT_NE(statistics.text().find("of 7.63 s; the program waited 0.1 s of 1.8 s (6%): the program is the bottleneck"),
            std::string::npos)
      << statistics.text();
}

}  // namespace
}  // namespace tandem::loader_steps_test
