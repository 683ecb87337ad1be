#include "tandem/samplers.h"

#include <algorithm>

#include "core/call/numbers.h"
#include "core/data/sampler_handle.h"

using namespace tandem::capi;

void tdm_sampler_free(tdm_sampler* sampler) {
  tandem::capi::guard_end("tdm_sampler_free", [&](tandem::ThreadState&) { delete if_live(sampler); });
}

int64_t tdm_sampler_size(const tdm_sampler* sampler) {
  return if_live(sampler) ? sampler->order->size() : 0;
}

tdm_error* tdm_sampler_samples(const tdm_sampler* sampler, uint64_t seed, int64_t epoch, int64_t first,
                               int64_t* samples, size_t count) {
  return guard("tdm_sampler_samples", [&] {
    not_null(sampler, "sampler");
    not_null(samples, "samples");
    check_count(count, "samples");
    const std::int64_t size = sampler->order->size();
    if (first < 0 || first > size || static_cast<std::int64_t>(count) > size - first) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "there are no " + std::to_string(count) + " positions from " +
                                                              std::to_string(first) + " on: an epoch has " +
                                                              std::to_string(size));
    }
    std::vector<std::int64_t> found(count);
    sampler->order->samples(seed, epoch, first, found);
    std::copy(found.begin(), found.end(), samples);
  });
}

namespace {

void check_size(int64_t size) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;  // that Permutation takes
  if (size < 0 || size > kMost) {
    invalid("argument 'size' is " + std::to_string(size) + ", but must be from 0 to 2^62");
  }
}

}  // namespace

tdm_error* tdm_sampler_sequential(int64_t size, tdm_sampler** out) {
  return guard("tdm_sampler_sequential", [&] {
    not_null(out, "out");
    check_size(size);
    *out = new tdm_sampler(tandem::sequential_order(size));
  });
}

tdm_error* tdm_sampler_random(int64_t size, tdm_sampler** out) {
  return guard("tdm_sampler_random", [&] {
    not_null(out, "out");
    check_size(size);
    *out = new tdm_sampler(tandem::shuffled_order(size));
  });
}

tdm_error* tdm_sampler_weighted(const double* weights, size_t count, int64_t positions, int32_t replacement,
                                tdm_sampler** out) {
  return guard("tdm_sampler_weighted", [&] {
    auto list = to_numbers(weights, count, "weights");
    not_null(out, "out");
    *out = new tdm_sampler(replacement ? tandem::weighted_order(std::move(list), positions)
                                       : tandem::weighted_order_without_replacement(std::move(list), positions));
  });
}

tdm_error* tdm_sampler_subset(const int64_t* samples, size_t count, int32_t shuffle, tdm_sampler** out) {
  return guard("tdm_sampler_subset", [&] {
    auto list = to_numbers(samples, count, "samples");
    not_null(out, "out");
    *out = new tdm_sampler(tandem::subset_order(std::move(list), shuffle != 0));
  });
}

tdm_error* tdm_sampler_batches(const int64_t* samples, size_t count, int64_t batch_size, int32_t shuffle,
                               tdm_sampler** out) {
  return guard("tdm_sampler_batches", [&] {
    auto list = to_numbers(samples, count, "samples");
    not_null(out, "out");
    *out = new tdm_sampler(tandem::batch_order(std::move(list), batch_size, shuffle != 0));
  });
}

tdm_error* tdm_sampler_by_length(const int64_t* lengths, size_t count, int64_t batch_size, int64_t window,
                                 tdm_sampler** out) {
  return guard("tdm_sampler_by_length", [&] {
    auto list = to_numbers(lengths, count, "lengths");
    not_null(out, "out");
    *out = new tdm_sampler(tandem::length_bucketed_order(std::move(list), batch_size, window));
  });
}

tdm_error* tdm_sampler_distributed(const tdm_sampler* sampler, int32_t rank, int32_t world_size, tdm_sampler** out) {
  return guard("tdm_sampler_distributed", [&] {
    not_null(sampler, "sampler");
    not_null(out, "out");
    *out = new tdm_sampler(tandem::distributed_order(sampler->order, rank, world_size));
  });
}
