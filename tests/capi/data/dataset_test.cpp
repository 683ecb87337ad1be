// Data sets and samplers through the C ABI: those made of others, and functions of the caller's.
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "capi/calls.h"

namespace dataset_test {
namespace {

using Ids = std::vector<std::int64_t>;

struct FreeData {
  void operator()(tdm_dataset* one) const { tdm_dataset_free(one); }
  void operator()(tdm_sampler* one) const { tdm_sampler_free(one); }
  void operator()(tdm_loader* one) const { tdm_loader_free(one); }
};
using Dataset = std::unique_ptr<tdm_dataset, FreeData>;
using Sampler = std::unique_ptr<tdm_sampler, FreeData>;
using Loader = std::unique_ptr<tdm_loader, FreeData>;

const char* const kNames[] = {"id", "pair"};

calls::Tensor ids_tensor(const Ids& ids) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(ids.size())};
  tdm_tensor* made = nullptr;
  EXPECT_OK(tdm_tensor_from_data(ids.data(), ids.size() * sizeof ids[0], TDM_DTYPE_INT64, sizes, 1, &made));
  return calls::Tensor(made);
}

// What the caller's functions were asked, and how they answer.
struct Caller {
  std::int64_t broken = -1, missing = -1, thrown = -1;
  std::int64_t length = 11;  // of a stream
  int destroyed = 0, open = 0;
  std::int64_t unreadable = -1;  // for so many times, with this code
  std::atomic<int> troubles = 0;
  tdm_error_code trouble = TDM_ERROR_IO;

  static Caller& of(void* user_data) { return *static_cast<Caller*>(user_data); }
  static void destroy(void* user_data) { ++of(user_data).destroyed; }

  // The handles are the scope's that a callback runs in.
  static tdm_error* set(std::int64_t number, tdm_tensor** sample, std::size_t count) {
    EXPECT_EQ(count, 2u);
    const float pair[] = {static_cast<float>(number), static_cast<float>(10 * number)};
    const std::int64_t two = 2;
    if (tdm_error* error = tdm_tensor_from_data(&number, sizeof number, TDM_DTYPE_INT64, nullptr, 0, &sample[0])) {
      return error;
    }
    return tdm_tensor_from_data(pair, sizeof pair, TDM_DTYPE_FLOAT32, &two, 1, &sample[1]);
  }
  static tdm_error* get(void* user_data, std::int64_t index, tdm_tensor** sample, std::size_t count) {
    Caller& self = of(user_data);
    if (index == self.thrown) throw std::runtime_error("thrown away");
    if (index == self.broken) return tdm_error_create(TDM_ERROR_DATA_LOSS, nullptr, "it is broken", nullptr, nullptr);
    if (index == self.missing) return nullptr;
    if (index == self.unreadable && self.troubles-- > 0) {
      return tdm_error_create(self.trouble, nullptr, "it is away", nullptr, nullptr);
    }
    return set(index, sample, count);
  }
  static tdm_error* open_stream(void* user_data, std::uint64_t seed, std::int64_t epoch, void** stream) {
    ++of(user_data).open;
    *stream = new Ids{0, static_cast<std::int64_t>(seed) + 1000 * epoch};
    return nullptr;
  }
  static tdm_error* next(void* user_data, void* stream, tdm_tensor** sample, std::size_t count, std::int32_t* has) {
    Ids& at = *static_cast<Ids*>(stream);
    if (at[0] == of(user_data).length) return nullptr;
    *has = 1;
    return set(at[1] + at[0]++, sample, count);
  }
  static tdm_error* skip(void* user_data, void* stream, std::int64_t count, std::int64_t* skipped) {
    Ids& at = *static_cast<Ids*>(stream);
    *skipped = std::min(count, of(user_data).length - at[0]);
    at[0] += *skipped;
    return nullptr;
  }
  static void close(void* user_data, void* stream) {
    --of(user_data).open;
    delete static_cast<Ids*>(stream);
  }
  static tdm_error* list(void*, std::uint64_t, std::int64_t epoch, std::int64_t first, std::int64_t* samples,
                         std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) samples[i] = 9 - (first + static_cast<std::int64_t>(i) + epoch) % 10;
    return nullptr;
  }

  Dataset dataset(std::int64_t size) {
    tdm_dataset* made = nullptr;
    EXPECT_OK(tdm_dataset_create(size, kNames, 2, 0, get, this, destroy, &made));
    return Dataset(made);
  }
  Dataset stream() {
    tdm_iterable iterable = TDM_ITERABLE_INIT;
    iterable.names = kNames;
    iterable.field_count = 2;
    iterable.open = open_stream;
    iterable.next = next;
    iterable.skip = skip;
    iterable.close = close;
    iterable.user_data = this;
    iterable.destroy = destroy;
    tdm_dataset* made = nullptr;
    EXPECT_OK(tdm_dataset_from_iterable(&iterable, &made));
    return Dataset(made);
  }
};

tdm_loader_options in_sequence(std::int64_t batch_size) {
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.batch_size = batch_size;
  options.shuffle = 0;
  options.tail = TDM_TAIL_SHORT;
  options.threads = 2;
  return options;
}

Loader open(const Dataset& dataset, const tdm_loader_options& options) {
  tdm_loader* made = nullptr;
  EXPECT_OK(tdm_loader_create_from(dataset.get(), &options, &made));
  return Loader(made);
}

// The first field of all batches that are left of an epoch.
Ids rest(const Loader& loader, std::size_t fields) {
  Ids all;
  for (;;) {
    std::vector<tdm_tensor*> batch(fields);
    std::int32_t has = 0;
    EXPECT_OK(tdm_loader_next(loader.get(), batch.data(), fields, &has));
    if (!has) return all;
    Ids ids(static_cast<std::size_t>(tdm_tensor_numel(batch[0])));
    EXPECT_OK(tdm_tensor_copy_to(batch[0], ids.data(), ids.size() * sizeof ids[0]));
    all.insert(all.end(), ids.begin(), ids.end());
    for (tdm_tensor* one : batch) tdm_tensor_free(one);
  }
}

Ids counted(std::int64_t first, std::size_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

class CapiDataset : public testing::Test {
 protected:
  Caller caller_;

 private:
  const calls::LeakCheck leaks_;
};

TEST_F(CapiDataset, OfTheCallers) {
  {
    const Dataset own = caller_.dataset(10);
    EXPECT_EQ(tdm_dataset_size(own.get()), 10);
    ASSERT_EQ(tdm_dataset_field_count(own.get()), 2u);
    EXPECT_STREQ(tdm_dataset_field_name(own.get(), 1), "pair");
    EXPECT_EQ(tdm_dataset_field_name(own.get(), 2), nullptr);
    Loader loader = open(own, in_sequence(4));
    EXPECT_EQ(rest(loader, 2), counted(0, 10));

    tdm_tensor* sample[2] = {};
    EXPECT_OK(tdm_dataset_get(own.get(), 7, sample, 2));
    const calls::Tensor id(sample[0]), pair(sample[1]);
    EXPECT_EQ(calls::floats(pair.get()), (std::vector<float>{7, 70}));
    EXPECT_REFUSED(tdm_dataset_get(own.get(), 10, sample, 2), TDM_ERROR_OUT_OF_RANGE, "no sample 10");
    EXPECT_REFUSED(tdm_dataset_get(own.get(), 1, sample, 1), TDM_ERROR_INVALID_ARGUMENT, "room for 1");

    caller_.broken = 6;
    caller_.missing = 2;
    caller_.thrown = 3;
    EXPECT_REFUSED(tdm_dataset_get(own.get(), 6, sample, 2), TDM_ERROR_CALLBACK,
                   "cannot load sample 6: a data set's get failed: it is broken");
    EXPECT_REFUSED(tdm_dataset_get(own.get(), 2, sample, 2), TDM_ERROR_CALLBACK,
                   "cannot load sample 2: a data set's get set no tensor 0");
    EXPECT_REFUSED(tdm_dataset_get(own.get(), 3, sample, 2), TDM_ERROR_CALLBACK,
                   "cannot load sample 3: a data set's get failed: thrown away");
    EXPECT_EQ(caller_.destroyed, 0);
  }
  EXPECT_EQ(caller_.destroyed, 1);
  tdm_dataset* none = nullptr;
  EXPECT_REFUSED(tdm_dataset_create(3, nullptr, 0, 0, Caller::get, &caller_, Caller::destroy, &none),
                 TDM_ERROR_INVALID_ARGUMENT, "'names'");
  EXPECT_REFUSED(tdm_dataset_create(-1, kNames, 2, 0, Caller::get, &caller_, Caller::destroy, &none),
                 TDM_ERROR_INVALID_ARGUMENT, "'size'");
  EXPECT_EQ(caller_.destroyed, 1) << "who gets an error keeps the pointer";
}

tdm_error* times_two(void* user_data, tdm_tensor* const* sample, std::size_t count, tdm_tensor** mapped, std::size_t) {
  EXPECT_EQ(count, 2u);
  ++*static_cast<int*>(user_data);
  tdm_value result{};
  const tdm_value arguments[] = {calls::of(sample[0]), calls::of(sample[0]), calls::of(1)};
  if (tdm_error* error = tdm_op_call(calls::find("aten::add", "Tensor"), arguments, 3, &result, 1)) return error;
  mapped[0] = result.as.tensor;
  return nullptr;
}

TEST_F(CapiDataset, MadeOfOthers) {
  const Dataset own = caller_.dataset(10);
  tdm_dataset* made = nullptr;
  int mapped = 0;
  const char* const name = "twice";
  ASSERT_OK(tdm_dataset_map(own.get(), &name, 1, times_two, &mapped, nullptr, &made));
  const Dataset twice(made);
  const calls::Tensor ids = ids_tensor({50, 51, 52});
  tdm_tensor* const tensors[] = {ids.get()};
  ASSERT_OK(tdm_dataset_from_tensors(tensors, 1, &name, &made));
  const Dataset fifties(made);
  const Ids changed(3, -1);  // the data set has what the tensor was
  ASSERT_OK(tdm_tensor_copy_from(ids.get(), changed.data(), changed.size() * sizeof changed[0]));
  const tdm_dataset* const parts[] = {twice.get(), fifties.get()};
  ASSERT_OK(tdm_dataset_concat(parts, 2, &made));
  const Dataset both(made);
  const Ids chosen = {12, 3, 10};
  ASSERT_OK(tdm_dataset_subset(both.get(), chosen.data(), chosen.size(), &made));
  const Dataset some(made);
  EXPECT_EQ(rest(open(some, in_sequence(2)), 1), (Ids{52, 6, 50}));
  EXPECT_EQ(mapped, 1);

  const double fractions[] = {0.5, 0.5};
  std::int64_t sizes[2];
  ASSERT_OK(tdm_dataset_split_sizes(both.get(), fractions, 2, sizes));
  EXPECT_EQ(sizes[0], 7);
  tdm_dataset* halves[2];
  ASSERT_OK(tdm_dataset_random_split(both.get(), sizes, 2, 3, halves));
  Ids all;
  for (tdm_dataset* half : halves) {
    const Ids part = rest(open(Dataset(half), in_sequence(5)), 1);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Ids{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 50, 51, 52}));

  EXPECT_REFUSED(tdm_dataset_concat(nullptr, 0, &made), TDM_ERROR_INVALID_ARGUMENT, "no data set");
  const tdm_dataset* const other[] = {own.get(), fifties.get()};
  EXPECT_REFUSED(tdm_dataset_concat(other, 2, &made), TDM_ERROR_INVALID_ARGUMENT, "other names");
  EXPECT_REFUSED(tdm_dataset_subset(own.get(), chosen.data(), 3, &made), TDM_ERROR_OUT_OF_RANGE, "no sample 12");
  EXPECT_REFUSED(tdm_dataset_random_split(own.get(), sizes, 2, 3, halves), TDM_ERROR_INVALID_ARGUMENT, "has 10");
}

// What a caller says cannot be read now is not taken for what is wrong with a sample.
TEST_F(CapiDataset, WhatTheCallerCannotReadIsRetriedSkippedOrFails) {
  const Dataset own = caller_.dataset(10);
  caller_.unreadable = 7;  // the last of its batch, so no sample is behind the end of the search
  tdm_loader_options options = in_sequence(4);
  for (const tdm_error_code code : {TDM_ERROR_IO, TDM_ERROR_TIMEOUT}) {
    caller_.trouble = code;
    caller_.troubles = 2;
    options.on_io_error = TDM_ON_IO_ERROR_RETRY;
    options.io_retry_ms = 60000;
    EXPECT_EQ(rest(open(own, options), 2), counted(0, 10));

    caller_.troubles = 1 << 30;
    options.on_io_error = TDM_ON_IO_ERROR_SKIP;
    options.io_retry_ms = 300;
    const Loader skipping = open(own, options);
    std::int64_t skipped = 0, samples = 0;
    for (int i = 0; i < 3; ++i) {
      tdm_tensor* batch[2] = {};
      std::int32_t has = 0;
      ASSERT_OK(tdm_loader_next(skipping.get(), batch, 2, &has));
      const calls::Tensor id(batch[0]), pair(batch[1]);
      tdm_loader_batch about = TDM_LOADER_BATCH_INIT;
      ASSERT_OK(tdm_loader_get_batch(skipping.get(), &about));
      EXPECT_EQ(about.skipped, about.number == 1 ? 1 : 0);
      EXPECT_EQ(about.global_count, about.local_count + about.skipped);
      skipped += about.skipped;
      samples += about.local_count;
    }
    EXPECT_EQ(skipped, 1);
    EXPECT_EQ(samples, 9);

    options.on_io_error = TDM_ON_IO_ERROR_FAIL;
    const Loader failing = open(own, options);
    tdm_tensor* batch[2];
    std::int32_t has = 0;
    tdm_error* error = nullptr;
    while (!error && (error = tdm_loader_next(failing.get(), batch, 2, &has)) == nullptr && has) {
      for (tdm_tensor* one : batch) tdm_tensor_free(one);
    }
    const std::string message = calls::message(error, code);
    EXPECT_THAT(message, testing::HasSubstr("cannot load sample 7"));
    EXPECT_THAT(message, testing::HasSubstr("it is away"));
  }
  // Anything else is the sample's, at once.
  caller_.trouble = TDM_ERROR_NOT_FOUND;
  caller_.troubles = 1;
  options.on_io_error = TDM_ON_IO_ERROR_SKIP;
  options.batch_size = 10;
  const Loader failing = open(own, options);
  tdm_tensor* batch[2];
  std::int32_t has = 0;
  EXPECT_REFUSED(tdm_loader_next(failing.get(), batch, 2, &has), TDM_ERROR_CALLBACK, "cannot load sample 7");
  caller_.trouble = TDM_ERROR_OUT_OF_MEMORY;  // or nobody's
  caller_.troubles = 1;
  const Loader without_memory = open(own, options);
  EXPECT_REFUSED(tdm_loader_next(without_memory.get(), batch, 2, &has), TDM_ERROR_OUT_OF_MEMORY,
                 "cannot load sample 7");
}

TEST_F(CapiDataset, OneAfterTheOther) {
  {
    const Dataset stream = caller_.stream();
    EXPECT_EQ(tdm_dataset_size(stream.get()), -1);
    tdm_loader_options options = in_sequence(4);
    options.seed = 100;
    const Loader loader = open(stream, options);
    EXPECT_EQ(tdm_loader_batch_count(loader.get()), -1);
    EXPECT_OK(tdm_loader_start_epoch(loader.get(), 2, -1));
    EXPECT_EQ(rest(loader, 2), counted(2100, 11));
    EXPECT_EQ(tdm_loader_current_epoch(loader.get()), 3);

    tdm_dataset* made = nullptr;
    const std::int64_t zero = 0;
    EXPECT_REFUSED(tdm_dataset_subset(stream.get(), &zero, 1, &made), TDM_ERROR_UNSUPPORTED, "one after the other");
    tdm_tensor* sample[2];
    EXPECT_REFUSED(tdm_dataset_get(stream.get(), 0, sample, 2), TDM_ERROR_UNSUPPORTED, "only a loader");
    options.shuffle = 1;
    tdm_loader* none = nullptr;
    EXPECT_REFUSED(tdm_loader_create_from(stream.get(), &options, &none), TDM_ERROR_INVALID_ARGUMENT, "its own order");
  }
  EXPECT_EQ(caller_.open, 0);
  EXPECT_EQ(caller_.destroyed, 1);
  tdm_iterable iterable = TDM_ITERABLE_INIT;
  iterable.names = kNames;
  iterable.field_count = 2;
  tdm_dataset* made = nullptr;
  EXPECT_REFUSED(tdm_dataset_from_iterable(&iterable, &made), TDM_ERROR_INVALID_ARGUMENT, "iterable->open");
}

TEST_F(CapiDataset, Samplers) {
  const Dataset own = caller_.dataset(10);
  for (const std::int32_t by_epoch : {0, 1}) {
    tdm_sampler* made = nullptr;
    ASSERT_OK(tdm_sampler_create("backwards", 10, by_epoch, Caller::list, &caller_, Caller::destroy, &made));
    Sampler backwards(made);
    EXPECT_EQ(tdm_sampler_size(backwards.get()), 10);
    Ids samples(3);
    EXPECT_OK(tdm_sampler_samples(backwards.get(), 1, 0, 4, samples.data(), 3));
    EXPECT_EQ(samples, (Ids{5, 4, 3}));
    EXPECT_REFUSED(tdm_sampler_samples(backwards.get(), 1, 0, 8, samples.data(), 3), TDM_ERROR_OUT_OF_RANGE,
                   "an epoch has 10");
    ASSERT_OK(tdm_sampler_distributed(backwards.get(), 1, 3, &made));
    const Sampler third(made);
    tdm_loader_options options = in_sequence(4);
    options.sampler = third.get();
    const Loader loader = open(own, options);
    options.sampler = backwards.get();
    const Loader whole = open(own, options);
    backwards.reset();
    EXPECT_EQ(rest(loader, 2), (Ids{8, 5, 2, 9}));
    EXPECT_OK(tdm_loader_start_epoch(whole.get(), 0, 1));
    EXPECT_EQ(rest(whole, 2), (Ids{5, 4, 3, 2, 1, 0}));
  }
  EXPECT_EQ(caller_.destroyed, 2);

  const auto epoch_of = [](auto&& make) {
    tdm_sampler* made = nullptr;
    EXPECT_OK(make(&made));
    const Sampler sampler(made);
    Ids samples(static_cast<std::size_t>(tdm_sampler_size(made)));
    EXPECT_OK(tdm_sampler_samples(made, 5, 0, 0, samples.data(), samples.size()));
    return samples;
  };
  EXPECT_EQ(epoch_of([](auto** out) { return tdm_sampler_sequential(3, out); }), counted(0, 3));
  Ids random = epoch_of([](auto** out) { return tdm_sampler_random(30, out); });
  EXPECT_NE(random, counted(0, 30));
  std::sort(random.begin(), random.end());
  EXPECT_EQ(random, counted(0, 30));
  const double weights[] = {0, 2, 0};
  EXPECT_EQ(epoch_of([&](auto** out) { return tdm_sampler_weighted(weights, 3, 4, 1, out); }), (Ids{1, 1, 1, 1}));
  EXPECT_EQ(epoch_of([&](auto** out) { return tdm_sampler_weighted(weights, 3, 1, 0, out); }), (Ids{1}));
  const Ids listed = {4, 5, 6};
  EXPECT_EQ(epoch_of([&](auto** out) { return tdm_sampler_subset(listed.data(), 3, 0, out); }), listed);
  EXPECT_EQ(epoch_of([&](auto** out) { return tdm_sampler_batches(listed.data(), 3, 3, 1, out); }), listed);
  EXPECT_EQ(epoch_of([&](auto** out) { return tdm_sampler_by_length(listed.data(), 3, 3, 1, out); }), counted(0, 3));
  tdm_sampler* none = nullptr;
  EXPECT_REFUSED(tdm_sampler_weighted(weights, 3, 4, 0, &none), TDM_ERROR_INVALID_ARGUMENT, "4 different samples");
  EXPECT_REFUSED(tdm_sampler_random(-1, &none), TDM_ERROR_INVALID_ARGUMENT, "'size' is -1");
}

}  // namespace
}  // namespace dataset_test
