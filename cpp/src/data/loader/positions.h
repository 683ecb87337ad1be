// What loaders of either partition have in common: which samples come when, and the state of a run.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tandem/dataset.h"
#include "tandem/loader_state.h"
#include "tandem/sample_order.h"

namespace tandem::loader {

std::shared_ptr<const SampleOrder> shuffle_order(std::int64_t samples, bool shuffle, std::int64_t block,
                                                 std::int64_t window);
// An order whose name a state has room for.
std::shared_ptr<const SampleOrder> named_order(std::shared_ptr<const SampleOrder> order);
// The order of LoaderOptions or DynamicLoaderOptions: the program's own, or what they say of a shuffle. Throws
// Error(kInvalidArgument).
template <typename Options>
std::shared_ptr<const SampleOrder> order_of(std::int64_t samples, const Options& options) {
  return options.order ? named_order(options.order)
                       : shuffle_order(samples, options.shuffle, options.shuffle_block, options.shuffle_window);
}

// The samples at `size` positions from `begin` on; the epoch's start comes after its end.
std::vector<std::int64_t> samples_at(const SampleOrder& order, std::uint64_t seed, std::int64_t epoch,
                                     std::int64_t begin, std::int64_t size);

// Throws Error(kOutOfRange) unless all of them are of a data set that has as many.
void require_samples(const SampleOrder& order, std::span<const std::int64_t> found, std::int64_t samples);

LoaderState state_of(const Dataset& dataset, const SampleOrder& order, std::uint64_t seed, std::int64_t batch_size,
                     std::int64_t epoch, std::int64_t position);
// Throws the errors of LoaderState::parse(), and kInvalidArgument where the state is of another data set or order.
LoaderState checked_state(std::string_view bytes, const Dataset& dataset, const SampleOrder& order);

}  // namespace tandem::loader
