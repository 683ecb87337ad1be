// Orders by weight, by length, of chosen samples, or of the program's own: PyTorch's samplers as functions of seed,
// epoch and position, for LoaderOptions::order. Unless noted otherwise, an epoch can be entered anywhere at no cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/sample_order.h"

namespace tandem {

// `positions` samples an epoch, each drawn by its weight among all, so that one may come several times. Keeps 8 bytes a
// sample; a position takes O(log samples). Throws Error(kInvalidArgument) for weights that are negative, not finite or
// all zero. Source: torch.utils.data.WeightedRandomSampler with replacement.
TANDEM_API std::shared_ptr<const SampleOrder> weighted_order(std::vector<double> weights, std::int64_t positions);

// `positions` different samples of positive weight an epoch, as if drawn by weight one after the other without being
// put back. Entering an epoch sorts all samples, once, and keeps 8 bytes for each. Throws Error(kInvalidArgument), also
// for more positions than there are such samples. Source: torch.utils.data.WeightedRandomSampler without replacement.
TANDEM_API std::shared_ptr<const SampleOrder> weighted_order_without_replacement(std::vector<double> weights,
                                                                                 std::int64_t positions);

// These samples, shuffled or as they are listed. Source: torch.utils.data.SubsetRandomSampler.
TANDEM_API std::shared_ptr<const SampleOrder> subset_order(std::vector<std::int64_t> samples, bool shuffle);

// Batches of the program's own choice: `batch_size` samples each, listed one batch after the other; the last may have
// fewer, and stays the last. Shuffled as whole batches, or as they are listed; for a loader of that batch size. Throws
// Error(kInvalidArgument). Source: torch.utils.data.BatchSampler.
TANDEM_API std::shared_ptr<const SampleOrder> batch_order(std::vector<std::int64_t> samples, std::int64_t batch_size,
                                                          bool shuffle);

// Samples of similar length come in one batch: a shuffle is cut into windows of `window` batches of `batch_size`, the
// samples of each are sorted by length and cut into batches, and these shuffled. Every sample comes once an epoch.
// Entering an epoch costs sorting a window. For a loader of that batch size. Throws Error(kInvalidArgument).
TANDEM_API std::shared_ptr<const SampleOrder> length_bucketed_order(std::vector<std::int64_t> lengths,
                                                                    std::int64_t batch_size, std::int64_t window);

// Every `world_size`th position of another order, from `rank` on, filled up from its start so that all ranks have
// equally many: for a loader that knows nothing of other ranks (world_size 1), whose global batches then depend on
// their number. Throws Error(kInvalidArgument). Source: torch.utils.data.DistributedSampler.
TANDEM_API std::shared_ptr<const SampleOrder> distributed_order(std::shared_ptr<const SampleOrder> all,
                                                                std::int64_t rank, std::int64_t world_size);

// Writes all samples of an epoch.
using EpochSamples = std::function<void(std::uint64_t seed, std::int64_t epoch, std::span<std::int64_t> samples)>;

// An order that is only known by the whole epoch. It gives up entering an epoch at no cost: that lists all of it, on
// every rank, and keeps 8 bytes a position. Ranks, restarts and other world sizes see the same batches only as far as
// `list` gives the same for the same seed and epoch everywhere. An order of one's own that needs no list is a class
// derived from SampleOrder.
TANDEM_API std::shared_ptr<const SampleOrder> listed_order(std::string name, std::int64_t positions, EpochSamples list);

}  // namespace tandem
