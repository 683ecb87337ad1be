// Batches in pinned memory.
#include "tandem/loader.h"

#include "gpu/gpu.h"

namespace tandem {
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

}  // namespace
}  // namespace tandem
