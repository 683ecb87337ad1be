// Batches in pinned memory, and on the GPU. tests/cpp/data/loader_device_test.cpp has more, on a device that is none.
#include "tandem/loader.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "gpu/gpu.h"
#include "tandem/batch_transform.h"
#include "tandem/derived_datasets.h"
#include "tandem/dynamic_loader.h"

namespace tandem::loader_test {
namespace {

using PinnedLoader = testing::Gpu;

TEST_F(PinnedLoader, BatchesAreCopiedToTheGpuBesideComputation) {
  LoaderOptions options{.batch_size = 8, .shuffle = false, .threads = 2};
  options.pin_memory = true;
  DataLoader loader(tensor_dataset({at::arange(32)}, {"id"}), options);
  std::int64_t next = 0;
  for (LoadedBatch& batch : loader.epoch(0)) {
    EXPECT_TRUE(batch["id"].is_pinned());
    const at::Tensor there = batch["id"].to(testing::kGpu, /*non_blocking=*/true);
    EXPECT_TRUE(there.cpu().equal(at::arange(next, next + 8)));
    next += 8;
  }
  EXPECT_EQ(next, 32);
  EXPECT_GT(loader.statistics().pinning.count(), 0);
}

using LoaderOnGpu = testing::Gpu;

std::shared_ptr<Dataset> pictures(std::int64_t count) {
  return tensor_dataset({at::arange(count), at::arange(count * 48, at::kFloat).view({count, 3, 4, 4})},
                        {"id", "image"});
}

LoaderOptions options_of(int threads, std::optional<at::Device> device) {
  LoaderOptions options{.batch_size = 16, .seed = 7, .threads = threads, .prefetch = 64};
  options.transforms = {random_horizontal_flip({"image"}),
                        custom_step(
                            [](Batch& batch) {
                              const at::Tensor image = field_of(batch, "image");
                              batch.names.insert(batch.names.end(), {"cut", "last"});
                              batch.tensors.push_back(image.slice(3, 1, 3));
                              batch.tensors.push_back(image.contiguous(at::MemoryFormat::ChannelsLast));
                            },
                            {"cut", "last"})};
  options.device = device;
  return options;
}

std::int64_t pinned_requests() {
  return at::getHostAllocator(at::kCUDA)->get_stats().active_requests.allocated;
}

TEST_F(LoaderOnGpu, BatchesAreThoseOfTheCpu) {
  DataLoader on_cpu(pictures(1000), options_of(0, std::nullopt));
  for (const int threads : {0, 1, 2}) {
    const std::int64_t pinned = pinned_requests();
    DataLoader loader(pictures(1000), options_of(threads, testing::kGpu));
    for (const std::int64_t epoch : {0, 1}) {
      on_cpu.start_epoch(epoch);
      for (const LoadedBatch& batch : loader.epoch(epoch)) {
        const auto here = on_cpu.next();
        ASSERT_TRUE(here);
        EXPECT_EQ(batch.samples, here->samples);
        for (std::size_t i = 0; i < here->tensors.size(); ++i) {
          EXPECT_EQ(batch[i].device(), testing::kGpu);
          EXPECT_TRUE(batch[i].cpu().equal((*here)[i])) << i;
          EXPECT_EQ(batch[i].suggest_memory_format(), (*here)[i].suggest_memory_format());
        }
      }
      EXPECT_FALSE(on_cpu.next());
    }
    EXPECT_GT(pinned_requests(), pinned);
    EXPECT_GT(loader.statistics().copying.count(), 0);
  }
}

// Kernels right behind next(), on batches that the program lets go at once, on several streams.
TEST_F(LoaderOnGpu, KernelsFindTheirBatch) {
  constexpr std::int64_t kSamples = 40000;
  const c10::impl::VirtualGuardImpl guard(at::kCUDA);
  for (const int threads : {0, 1, 2}) {
    LoaderOptions options{.batch_size = 8, .seed = 3, .threads = threads, .prefetch = 256};
    options.device = testing::kGpu;
    DataLoader loader(pictures(kSamples), options);
    std::vector<at::Tensor> ids, sums;
    std::vector<std::int64_t> samples;
    for (int epoch = 0; epoch < 2; ++epoch) {
      loader.start_epoch(epoch);
      const c10::StreamGuard on_stream(epoch == 0 ? guard.getDefaultStream(testing::kGpu)
                                                  : guard.getStreamFromGlobalPool(testing::kGpu));
      while (const auto batch = loader.next()) {
        ids.push_back((*batch)["id"] + 0);
        sums.push_back((*batch)["image"].to(at::kDouble).sum({1, 2, 3}));
        samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
      }
      guard.synchronizeDevice(0);
    }
    const at::Tensor expected = at::tensor(samples);
    ASSERT_EQ(expected.numel(), 2 * kSamples);
    EXPECT_TRUE(at::cat(ids).cpu().equal(expected));
    EXPECT_TRUE(at::cat(sums).cpu().equal(expected.to(at::kDouble) * 48 * 48 + 47 * 48 / 2));
  }
}

TEST_F(LoaderOnGpu, TheCpuDoesNotWaitForTheGpu) {
  const c10::impl::VirtualGuardImpl guard(at::kCUDA);
  for (const int threads : {0, 1}) {
    DataLoader loader(pictures(1000), options_of(threads, testing::kGpu));
    for (int i = 0; i < 5; ++i) {  // memory that is there need not be asked for, which waits
      ASSERT_TRUE(loader.next());
      guard.synchronizeDevice(0);
    }
    const at::Tensor factor = at::rand({8192, 8192}, testing::kGpu);
    at::Tensor product = factor;
    for (int i = 0; i < 200; ++i) product = at::mm(product, factor);  // seconds of work
    const auto batch = loader.next();
    EXPECT_FALSE(guard.getStream(testing::kGpu).query());
    EXPECT_TRUE((*batch)["id"].cpu().equal(at::tensor(batch->samples)));
  }
}

TEST_F(LoaderOnGpu, MemoryAheadStaysWithinItsBytes) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  auto* const allocator = c10::getDeviceAllocator(at::kCUDA);
  const auto peak = [&] {
    return allocator->getDeviceStats(0)
        .allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
        .peak;
  };
  LoaderOptions options{.batch_size = 1, .shuffle = false, .threads = 2, .prefetch = 1000};
  options.prefetch_bytes = 16 * kMiB;
  options.device = testing::kGpu;
  DataLoader loader(map_dataset(tensor_dataset({at::arange(256)}),
                                [](std::vector<at::Tensor> sample) {
                                  return std::vector<at::Tensor>{sample[0].expand({kMiB / 8}).contiguous()};
                                }),
                    options);
  c10::impl::VirtualGuardImpl(at::kCUDA).synchronizeDevice(0);
  allocator->resetPeakStats(0);
  const std::int64_t before = peak();
  std::int64_t given = 0;
  loader.start_epoch(0);
  while (const auto batch = loader.next()) {
    EXPECT_EQ((*batch)[0][0][0].item<std::int64_t>(), given++);
    if (given % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // they get ahead
  }
  EXPECT_EQ(given, 256);
  EXPECT_LE(loader.statistics().most_bytes_ready, options.prefetch_bytes);
  // With the one that the program has, and those that it had.
  EXPECT_LE(peak() - before, options.prefetch_bytes + 4 * kMiB);
}

TEST_F(LoaderOnGpu, DynamicPartsAreOnTheGpu) {
  DynamicLoaderOptions options;
  options.batch_size = 96;
  options.micro_batch = 8;
  options.seed = 5;
  options.threads = 2;
  options.prefetch = 16;
  options.device = testing::kGpu;
  DynamicLoader loader(pictures(1000), options, {hash_store(), 1, 0, 1});
  std::int64_t seen = 0;
  while (loader.next_step()) {
    std::vector<at::Tensor> ids;
    std::vector<std::int64_t> samples;
    while (const auto part = loader.next()) {
      EXPECT_EQ((*part)["image"].device(), testing::kGpu);
      ids.push_back((*part)["id"] + (*part)["image"].sum({1, 2, 3}).mul(0).to(at::kLong));
      samples.insert(samples.end(), part->samples.begin(), part->samples.end());
    }
    EXPECT_TRUE(at::cat(ids).cpu().equal(at::tensor(samples)));
    seen += static_cast<std::int64_t>(samples.size());
    loader.commit();
  }
  EXPECT_EQ(seen, 1000);
}

TEST_F(LoaderOnGpu, TheCurrentGpuIsMeantWithoutANumber) {
  DataLoader loader(pictures(16), options_of(1, at::Device(at::kCUDA)));
  EXPECT_EQ((*loader.next())["image"].device(), testing::kGpu);
  const auto past = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
  try {
    DataLoader refused(pictures(16), options_of(1, at::Device(at::kCUDA, past)));
    ADD_FAILURE() << "there is no cuda:" << int{past};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfRange);
    EXPECT_NE(std::string(error.what()).find("cuda:" + std::to_string(past)), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tandem::loader_test
