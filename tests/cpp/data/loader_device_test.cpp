// Batches that loaders copy to a device: to one that is none, whose streams work as late as they may.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cpp/data/expect_error.h"
#include "support/fake_device/fake_device.h"
#include "tandem/batch_transform.h"
#include "tandem/dynamic_loader.h"
#include "tandem/loader.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

namespace fake = testing::fake_device;

constexpr std::int64_t kSamples = 50;

std::shared_ptr<Dataset> pictures() {
  return tensor_dataset({at::arange(kSamples), at::arange(kSamples * 24, at::kFloat).view({kSamples, 3, 2, 4})},
                        {"id", "image"});
}

// Random, and all layouts that a step may leave.
std::vector<std::shared_ptr<BatchTransform>> steps() {
  return {random_horizontal_flip({"image"}),
          custom_step(
              [](Batch& batch) {
                const at::Tensor image = field_of(batch, "image");
                const std::vector<std::pair<const char*, at::Tensor>> added = {
                    {"last", image.contiguous(at::MemoryFormat::ChannelsLast)},
                    {"cut", image.slice(3, 1, 3)},
                    {"spread", at::full({1}, 7, at::kShort).expand({image.size(0), 5})},
                    {"none", at::empty({image.size(0), 0})},
                    {"again", image},
                };
                for (const auto& [name, tensor] : added) {
                  batch.names.push_back(name);
                  batch.tensors.push_back(tensor);
                }
              },
              {"last", "cut", "spread", "none", "again"})};
}

LoaderOptions options_of(int threads, int prefetch, std::optional<at::Device> device = fake::device(0)) {
  LoaderOptions options{.batch_size = 8, .seed = 11, .threads = threads, .prefetch = prefetch, .transforms = steps()};
  options.device = device;
  return options;
}

std::vector<LoadedBatch> epoch_of(DataLoader& loader, std::int64_t epoch) {
  std::vector<LoadedBatch> batches;
  for (LoadedBatch& batch : loader.epoch(epoch)) batches.push_back(std::move(batch));
  return batches;
}

void expect_same(const LoadedBatch& there, const LoadedBatch& here, at::Device device) {
  EXPECT_EQ(there.number, here.number);
  EXPECT_EQ(there.samples, here.samples);
  EXPECT_EQ(*there.names, *here.names);
  EXPECT_TRUE(there.mask().equal(here.mask()));
  ASSERT_EQ(there.tensors.size(), here.tensors.size());
  for (std::size_t i = 0; i < here.tensors.size(); ++i) {
    SCOPED_TRACE((*here.names)[i]);
    EXPECT_EQ(there[i].device(), device);
    EXPECT_EQ(there[i].scalar_type(), here[i].scalar_type());
    EXPECT_TRUE(there[i].cpu().equal(here[i]));
    EXPECT_EQ(there[i].suggest_memory_format(), here[i].suggest_memory_format());
  }
}

class LoaderDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    fake::install();
    fake::run();
    fake::reset_memory();
    ASSERT_EQ(fake::memory().on_device, 0);
    ASSERT_EQ(fake::memory().pinned, 0);
  }
  // Loaders that are gone hold nothing; neither does what they queued.
  void TearDown() override {
    EXPECT_EQ(fake::memory().on_device, 0);
    EXPECT_EQ(fake::memory().pinned, 0);
    EXPECT_EQ(fake::memory().unpinned_copies, 0);
    fake::run();
    fake::fail_allocation(-1);
  }
};

TEST_F(LoaderDevice, BatchesAreThoseOfTheCpu) {
  DataLoader on_cpu(pictures(), options_of(0, 1, at::Device(at::kCPU)));
  for (const int threads : {0, 1, 2}) {
    for (const int prefetch : {0, 2, 64}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, prefetch " + std::to_string(prefetch));
      DataLoader loader(pictures(), options_of(threads, prefetch));
      for (const std::int64_t epoch : {0, 1}) {
        const auto here = epoch_of(on_cpu, epoch);
        std::size_t next = 0;
        for (const LoadedBatch& batch : loader.epoch(epoch)) expect_same(batch, here.at(next++), fake::device(0));
        EXPECT_EQ(next, here.size());
      }
      EXPECT_GT(loader.statistics().pinning.count(), 0);
      EXPECT_GT(loader.statistics().copying.count(), 0);
    }
  }
}

TEST_F(LoaderDevice, TheCpuIsTheDefault) {
  const auto here = epoch_of(*std::make_unique<DataLoader>(pictures(), options_of(1, 2, std::nullopt)), 0);
  DataLoader loader(pictures(), options_of(1, 2, at::Device(at::kCPU, 0)));
  std::size_t next = 0;
  for (const LoadedBatch& batch : loader.epoch(0)) {
    EXPECT_FALSE(batch["image"].is_pinned());
    expect_same(batch, here.at(next++), at::kCPU);
  }
  EXPECT_EQ(loader.statistics().copying.count(), 0);
}

// What the program queues right after next() finds the batch, even where it lets the batch go before anything of it has
// run; and next() does not wait for a copy.
TEST_F(LoaderDevice, StreamsWaitForCopiesAndTheCpuDoesNot) {
  DataLoader on_cpu(pictures(), options_of(0, 1, std::nullopt));
  const auto here = epoch_of(on_cpu, 0);
  for (const int threads : {0, 2}) {
    DataLoader loader(pictures(), options_of(threads, 64));
    std::vector<std::function<at::Tensor()>> read;
    const std::int64_t done = fake::done();
    for (const LoadedBatch& batch : loader.epoch(0)) read.push_back(fake::read_later(batch["image"]));
    EXPECT_EQ(fake::done(), done);
    fake::run();
    ASSERT_EQ(read.size(), here.size());
    for (std::size_t i = read.size(); i-- > 0;) EXPECT_TRUE(read[i]().equal(here[i]["image"])) << i;
  }
}

TEST_F(LoaderDevice, TheStreamThatWaitsIsTheCurrentOneOfTheCall) {
  DataLoader on_cpu(pictures(), options_of(0, 1, std::nullopt));
  const auto here = epoch_of(on_cpu, 0);
  const c10::impl::VirtualGuardImpl guard(fake::device().type());
  for (const int threads : {0, 1}) {
    DataLoader loader(pictures(), options_of(threads, 64, fake::device(1)));
    std::vector<std::function<at::Tensor()>> read;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const c10::StreamGuard on_stream(guard.getStreamFromGlobalPool(fake::device(1)));
      const auto batch = loader.next();
      EXPECT_EQ((*batch)["image"].device(), fake::device(1));
      EXPECT_EQ(guard.getStream(fake::device(1)), on_stream.current_stream());
      read.push_back(fake::read_later((*batch)["image"]));
    }
    EXPECT_EQ(guard.getDevice(), fake::device(0));
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_TRUE(read[i]().equal(here[i]["image"])) << i;
  }
}

// Without an index it is the current one of who makes the loader; steps find it current, and what they put there stays.
TEST_F(LoaderDevice, StepsMayUseTheDevice) {
  for (const int threads : {0, 2}) {
    auto options = options_of(threads, 4, fake::device());
    options.transforms = {custom_step(
        [](Batch& batch) {
          EXPECT_EQ(c10::impl::VirtualGuardImpl(fake::device().type()).getDevice(), fake::device(1));
          batch.names.push_back("there");
          batch.tensors.push_back((field_of(batch, "id") * 3).pin_memory().to(fake::device(1)));
        },
        {"there"})};
    std::optional<DataLoader> loader;
    {
      const c10::DeviceGuard on_device(fake::device(1));
      loader.emplace(pictures(), options);
    }
    int batches = 0;
    for (const LoadedBatch& batch : loader->epoch(0)) {
      EXPECT_EQ(batch["there"].device(), fake::device(1));
      EXPECT_TRUE(batch["there"].cpu().equal(batch["id"].cpu() * 3));
      ++batches;
    }
    EXPECT_EQ(batches, 7);
  }
}

// A step's own work on the device, on a stream of its thread, is waited for as well.
TEST_F(LoaderDevice, WhatStepsQueueIsWaitedFor) {
  auto options = options_of(1, 4);
  const at::Tensor source = at::arange(8).pin_memory();
  options.transforms = {custom_step(
      [&](Batch& batch) {
        batch.names.push_back("there");
        batch.tensors.push_back(source.to(fake::device(0), /*non_blocking=*/true));
      },
      {"there"})};
  const c10::impl::VirtualGuardImpl guard(fake::device().type());
  DataLoader loader(pictures(), options);
  const c10::StreamGuard on_stream(guard.getStreamFromGlobalPool(fake::device(0)));
  for (const LoadedBatch& batch : loader.epoch(0)) EXPECT_TRUE(batch["there"].cpu().equal(source));
}

constexpr std::int64_t kBytes = 1024;  // of a batch, here and below

std::shared_ptr<Dataset> kilobytes() {
  return tensor_dataset({at::arange(32 * kBytes / 8).view({32, kBytes / 8})});
}

// Room is taken by what is ready on the device, by what copies have yet to read, and by both for each batch that is
// being made.
void expect_room_for_six(const std::function<LoaderStatistics()>& statistics,
                         const std::function<std::optional<LoadedBatch>()>& next) {
  const auto wait_for = [&](std::int64_t batches) {
    while (statistics().batches < batches) std::this_thread::yield();
  };
  wait_for(3);  // not one copy has run: 3 + 3 + 2 would be too much
  EXPECT_EQ(fake::memory().pinned, 3 * kBytes);
  fake::run();
  wait_for(4);  // copies that are done wake who waits for room
  fake::run();
  wait_for(5);
  fake::run();
  std::int64_t given = 0;
  while (auto batch = next()) {
    EXPECT_EQ((*batch)[0].cpu()[0][0].item<std::int64_t>(), batch->samples[0] * kBytes / 8);
    EXPECT_LE(statistics().batches, ++given + 5);
    batch.reset();
    if (given % 3 == 0) fake::run();
  }
  EXPECT_EQ(given, 32);
  EXPECT_EQ(statistics().most_bytes_ready, 5 * kBytes);
  EXPECT_EQ(statistics().bytes, 32 * kBytes);
  EXPECT_LE(fake::memory().most, (6 + 1) * kBytes);  // with the one that the program has
}

TEST_F(LoaderDevice, MemoryAheadStaysWithinItsBytes) {
  for (const int threads : {1, 3}) {
    fake::reset_memory();
    LoaderOptions options{.batch_size = 1, .threads = threads, .prefetch = 100};
    options.prefetch_bytes = 6 * kBytes;
    options.device = fake::device(0);
    DataLoader loader(kilobytes(), options);
    loader.start_epoch(0);
    expect_room_for_six([&] { return loader.statistics(); }, [&] { return loader.next(); });
  }
}

TEST_F(LoaderDevice, PinnedMemoryGoesOnceItIsCopied) {
  for (const int threads : {0, 1}) {
    LoaderOptions options{.batch_size = 1, .threads = threads, .prefetch = 1};
    options.device = fake::device(0);
    DataLoader loader(kilobytes(), options);
    loader.start_epoch(0);
    while (loader.next()) {
      EXPECT_LE(fake::memory().pinned, 3 * kBytes);
      fake::run();
    }
  }
}

// A batch may still be on its way when its loader goes.
TEST_F(LoaderDevice, BatchesOutliveTheirLoader) {
  std::optional<LoadedBatch> batch;
  {
    DataLoader loader(pictures(), options_of(1, 8));
    batch = loader.next();
  }
  EXPECT_TRUE((*batch)["id"].cpu().equal(at::tensor(batch->samples)));
}

TEST_F(LoaderDevice, AFailedCopyFailsItsBatch) {
  for (const int threads : {0, 1}) {
    auto options = options_of(threads, 3);
    options.transforms.clear();
    DataLoader loader(pictures(), options);
    fake::fail_allocation(5);  // of the second tensor of batch 2
    loader.start_epoch(0);
    ASSERT_TRUE(loader.next() && loader.next());
    EXPECT_ERROR(loader.next(), ErrorCode::kOutOfMemory, "cannot copy batch 2 of epoch 0 to fake:0", "prefetch_bytes",
                 "is full");
    if (threads > 0) EXPECT_ERROR(loader.next(), ErrorCode::kOutOfMemory, "batch 2");
    fake::fail_allocation(-1);
    EXPECT_EQ(epoch_of(loader, 1).size(), 7u);
  }
}

TEST_F(LoaderDevice, WhatIsNotDenseIsNamed) {
  auto options = options_of(1, 1);
  options.transforms = {custom_step([](Batch& batch) { field_of(batch, "id") = field_of(batch, "id").to_sparse(); })};
  DataLoader loader(pictures(), options);
  EXPECT_ERROR(loader.next(), ErrorCode::kInvalidArgument, "batch 0 of epoch 0", "'id' is not dense");
}

TEST_F(LoaderDevice, AnEpochCanBeLeftWithCopiesUnderWay) {
  DataLoader on_cpu(pictures(), options_of(0, 1, std::nullopt));
  const auto here = epoch_of(on_cpu, 2);
  for (int left_after = 0; left_after < 5; ++left_after) {
    DataLoader loader(pictures(), options_of(2, 64));
    loader.start_epoch(0);
    for (int i = 0; i < left_after; ++i) loader.next();
    loader.start_epoch(2, 1);
    const auto first = loader.next();
    expect_same(*first, here[1], fake::device(0));
    loader.start_epoch(2);
    const auto again = loader.next();
    expect_same(*again, here[0], fake::device(0));
  }
}

TEST_F(LoaderDevice, DevicesThatAreNotThereAreRefused) {
  const auto make = [](at::Device device) { DataLoader(pictures(), options_of(1, 1, device)); };
  EXPECT_ERROR(make(fake::device(fake::kDevices)), ErrorCode::kOutOfRange, "device fake:4", "4 of its kind", "from 0");
  EXPECT_ERROR(make(at::Device(at::kCUDA, 3)), ErrorCode::kUnsupported, "device cuda:3 needs a GPU");
  EXPECT_ERROR(make(at::Device(at::kMeta)), ErrorCode::kInvalidArgument, "device meta");
  DynamicLoaderOptions options;
  options.device = at::Device(at::kCUDA, 0);
  EXPECT_ERROR(DynamicLoader(pictures(), options, {hash_store(), 1, 0, 1}), ErrorCode::kUnsupported, "device cuda:0");
}

DynamicLoaderOptions dynamic_options(int threads) {
  DynamicLoaderOptions options;
  options.batch_size = 20;
  options.micro_batch = 4;
  options.seed = 11;
  options.transforms = steps();
  options.threads = threads;
  options.prefetch = 8;
  options.device = fake::device(0);
  return options;
}

TEST_F(LoaderDevice, DynamicPartsAreThoseOfTheCpu) {
  for (const int threads : {1, 2}) {
    auto on_cpu = dynamic_options(1);
    on_cpu.device.reset();
    DynamicLoader here(pictures(), on_cpu, {hash_store(), 1, 0, 1});
    DynamicLoader loader(pictures(), dynamic_options(threads), {hash_store(), 1, 0, 1});
    while (here.next_step()) {
      ASSERT_TRUE(loader.next_step());
      std::map<std::vector<std::int64_t>, std::function<at::Tensor()>> read;
      while (const auto part = loader.next()) {
        EXPECT_EQ((*part)["image"].device(), fake::device(0));
        read[part->samples] = fake::read_later((*part)["image"]);
      }
      std::size_t parts = 0;
      for (; const auto part = here.next(); ++parts) {
        ASSERT_EQ(read.count(part->samples), 1u);
        EXPECT_TRUE(read[part->samples]().equal((*part)["image"]));
      }
      EXPECT_EQ(read.size(), parts);
      here.commit();
      loader.commit();
    }
    EXPECT_FALSE(loader.next_step());
    EXPECT_GT(loader.statistics().copying.count(), 0);
  }
}

TEST_F(LoaderDevice, ACopyThatFailsIsNoSamplesFault) {
  auto options = dynamic_options(1);
  DynamicLoader loader(pictures(), options, {hash_store(), 1, 0, 1});
  fake::fail_allocation(0);
  ASSERT_TRUE(loader.next_step());
  EXPECT_ERROR(loader.next(), ErrorCode::kOutOfMemory, "cannot copy batch 0 of epoch 0 to fake:0");
  EXPECT_TRUE(loader.quarantine().empty());
}

TEST_F(LoaderDevice, MemoryOfPartsAheadStaysWithinItsBytes) {
  for (const int threads : {1, 3}) {
    fake::reset_memory();
    auto options = dynamic_options(threads);
    options.batch_size = 32;
    options.micro_batch = 1;
    options.transforms.clear();
    options.prefetch = 100;
    options.prefetch_bytes = 6 * kBytes;
    DynamicLoader loader(kilobytes(), options, {hash_store(), 1, 0, 1});
    ASSERT_TRUE(loader.next_step());
    expect_room_for_six([&] { return loader.statistics(); }, [&] { return loader.next(); });
  }
}

// Last: nothing else of this process may use the core after it.
TEST_F(LoaderDevice, ZShutdownStopsWithCopiesUnderWay) {
  DataLoader loader(pictures(), options_of(2, 64));
  ASSERT_TRUE(loader.next());
  shutdown(std::chrono::seconds(20));
  EXPECT_ERROR(loader.next(), ErrorCode::kAborted, "shutdown");
}

}  // namespace
}  // namespace tandem
