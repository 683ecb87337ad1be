// Data sets of the program's own samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/callback.hpp"
#include "tandem/abi/dataset.hpp"

namespace tandem::abi {

// Samples by number. Loaders' threads call get(), several at once, each time in a scope: a Tensor that it makes and
// that is to outlive the call in some other place than its result needs Scope::keep(). What it throws is an error of
// the batch, TDM_ERROR_CALLBACK, naming the sample; Error::cause() is the exception itself. So it is below.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual int64_t size() const = 0;
  // Dense tensors on the CPU, alike in all samples.
  virtual std::vector<Tensor> get(int64_t index) = 0;
  // Tells data sets apart in the states of loaders; 0: by their size alone.
  virtual uint64_t fingerprint() const { return 0; }
};

// The samples of an epoch, one after the other. One thread at a time uses it, not always the same.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  // Nothing at the end.
  virtual std::optional<std::vector<Tensor>> next() = 0;
  // Leaves `count` samples out and says how many there were.
  virtual int64_t skip(int64_t count) {
    int64_t skipped = 0;
    while (skipped < count && next()) ++skipped;
    return skipped;
  }
};

// Samples that come one after the other: each epoch is a sequence of them, made anew from its start by open(), which
// several threads call at once. Loaders alone take it, without `shuffle`. docs/data.md says what it gives up.
class IterableSamples {
 public:
  virtual ~IterableSamples() = default;
  virtual std::unique_ptr<SampleStream> open(uint64_t seed, int64_t epoch) = 0;
  // Of each epoch; -1: unknown.
  virtual int64_t size() const { return -1; }
  virtual uint64_t fingerprint() const { return 0; }
};

using SampleMap = std::function<std::vector<Tensor>(std::vector<Tensor> sample)>;

// The functions that the C ABI calls.
namespace callback {

// Handles of the callback's scope, which frees them.
inline void give(const std::vector<Tensor>& sample, tdm_tensor** room, size_t count) {
  if (sample.size() != count) {
    throw std::length_error("it gave " + std::to_string(sample.size()) + " tensors, but the data set has names for " +
                            std::to_string(count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (sample[i].defined()) check(tdm_tensor_share(sample[i].raw(), &room[i]));
  }
}

inline tdm_error* get(void* user_data, int64_t index, tdm_tensor** sample, size_t field_count) {
  return guarded([&] { give(static_cast<Samples*>(user_data)->get(index), sample, field_count); });
}

inline tdm_error* map(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped,
                      size_t field_count) {
  return guarded([&] {
    std::vector<Tensor> given(count);
    for (size_t i = 0; i < count; ++i) {
      if (!sample[i]) continue;
      tdm_tensor* shared = nullptr;
      check(tdm_tensor_share(sample[i], &shared));
      given[i] = Tensor(shared);
    }
    give((*static_cast<SampleMap*>(user_data))(std::move(given)), mapped, field_count);
  });
}

inline tdm_error* open(void* user_data, uint64_t seed, int64_t epoch, void** stream) {
  return guarded([&] {
    auto opened = static_cast<IterableSamples*>(user_data)->open(seed, epoch);
    if (!opened) throw std::invalid_argument("it gave no stream");
    *stream = opened.release();
  });
}

inline tdm_error* next(void*, void* stream, tdm_tensor** sample, size_t field_count, int32_t* has_sample) {
  return guarded([&] {
    const auto given = static_cast<SampleStream*>(stream)->next();
    if (!given) return;
    give(*given, sample, field_count);
    *has_sample = 1;
  });
}

inline tdm_error* skip(void*, void* stream, int64_t count, int64_t* skipped) {
  return guarded([&] { *skipped = static_cast<SampleStream*>(stream)->skip(count); });
}

inline void close(void*, void* stream) {
  delete static_cast<SampleStream*>(stream);
}

}  // namespace callback

// Of the program's own samples, with the names of a sample's tensors. They go when nobody uses the data set any more,
// here and below.
inline Dataset from_samples(std::unique_ptr<Samples> samples, const std::vector<std::string>& names) {
  const auto texts = c_strings(names);
  tdm_dataset* made = nullptr;
  check(tdm_dataset_create(samples->size(), texts.data(), texts.size(), samples->fingerprint(), callback::get,
                           samples.get(), callback::destroy<Samples>, &made));
  samples.release();
  return Dataset(made);
}

inline Dataset from_iterable(std::unique_ptr<IterableSamples> samples, const std::vector<std::string>& names) {
  const auto texts = c_strings(names);
  tdm_iterable raw = TDM_ITERABLE_INIT;
  raw.size = samples->size();
  raw.names = texts.data();
  raw.field_count = texts.size();
  raw.fingerprint = samples->fingerprint();
  raw.open = callback::open;
  raw.next = callback::next;
  raw.skip = callback::skip;
  raw.close = callback::close;
  raw.user_data = samples.get();
  raw.destroy = callback::destroy<IterableSamples>;
  tdm_dataset* made = nullptr;
  check(tdm_dataset_from_iterable(&raw, &made));
  samples.release();
  return Dataset(made);
}

// Each sample as `map` makes it whenever it is loaded, a tensor for each of `names`.
inline Dataset map_samples(const Dataset& dataset, SampleMap map, const std::vector<std::string>& names) {
  const auto texts = c_strings(names);
  auto kept = std::make_unique<SampleMap>(std::move(map));
  tdm_dataset* made = nullptr;
  check(tdm_dataset_map(dataset.raw(), texts.data(), texts.size(), callback::map, kept.get(),
                        callback::destroy<SampleMap>, &made));
  kept.release();
  return Dataset(made);
}

}  // namespace tandem::abi
