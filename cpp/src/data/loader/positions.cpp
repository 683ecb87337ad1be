#include "data/loader/positions.h"

#include <algorithm>
#include <cstdio>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::shared_ptr<const SampleOrder> shuffle_order(std::int64_t samples, bool shuffle, std::int64_t block,
                                                 std::int64_t window) {
  if (block < 0) invalid("shuffle_block is " + std::to_string(block) + ", but must not be negative");
  if (!shuffle) return sequential_order(samples);
  return block == 0 ? shuffled_order(samples) : block_shuffled_order(samples, block, window);
}

std::shared_ptr<const SampleOrder> named_order(std::shared_ptr<const SampleOrder> order) {
  const std::string name = order->name();
  if (name.size() > LoaderState::kLongestOrder) {
    throw Error(ErrorCode::kInvalidArgument, "the order '" + name + "' has a name of " + std::to_string(name.size()) +
                                                 " bytes, but a state has room for " +
                                                 std::to_string(LoaderState::kLongestOrder) +
                                                 "; give it a shorter one");
  }
  return order;
}

std::vector<std::int64_t> samples_at(const SampleOrder& order, std::uint64_t seed, std::int64_t epoch,
                                     std::int64_t begin, std::int64_t size) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(size));
  std::span<std::int64_t> left(samples);
  for (std::int64_t position = begin % std::max<std::int64_t>(order.size(), 1); !left.empty(); position = 0) {
    const auto here = std::min(left.size(), static_cast<std::size_t>(order.size() - position));
    order.samples(seed, epoch, position, left.first(here));
    left = left.subspan(here);
  }
  return samples;
}

void require_samples(const SampleOrder& order, std::span<const std::int64_t> found, std::int64_t samples) {
  for (const std::int64_t sample : found) {
    if (sample >= 0 && sample < samples) continue;
    throw Error(ErrorCode::kOutOfRange, "the order '" + order.name() + "' gives sample " + std::to_string(sample) +
                                            ", but the data set has " + std::to_string(samples));
  }
}

LoaderState state_of(const Dataset& dataset, const SampleOrder& order, std::uint64_t seed, std::int64_t batch_size,
                     std::int64_t epoch, std::int64_t position) {
  LoaderState state;
  state.fingerprint = dataset.fingerprint();
  state.samples = dataset.size();
  state.positions = order.size();
  state.seed = seed;
  state.epoch = epoch;
  state.position = position;
  state.batch_size = batch_size;
  state.order = order.name();
  return state;
}

LoaderState checked_state(std::string_view bytes, const Dataset& dataset, const SampleOrder& order) {
  LoaderState state = LoaderState::parse(bytes);
  const std::uint64_t fingerprint = dataset.fingerprint();
  if (state.fingerprint != fingerprint || state.samples != dataset.size()) {
    invalid("the state is of another data set, of " + std::to_string(state.samples) + " samples with fingerprint " +
            hexadecimal(state.fingerprint) + "; this loader's has " + std::to_string(dataset.size()) +
            " with fingerprint " + hexadecimal(fingerprint) + ": open the files that the checkpoint was made with");
  }
  if (state.order != order.name() || state.positions != order.size()) {
    invalid("the state is of the order '" + state.order + "' with " + std::to_string(state.positions) +
            " positions an epoch, but this loader's is '" + order.name() + "' with " + std::to_string(order.size()) +
            ": give the loader the same options");
  }
  return state;
}

}  // namespace tandem::loader
