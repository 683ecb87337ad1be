// Micro-batches of global batches for whichever rank is free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/abi/dataset.hpp"
#include "tandem/abi/dist.hpp"

namespace tandem::abi {

struct DynamicLoaderOptions {
  int64_t batch_size = 1;   // of all ranks together
  int64_t micro_batch = 1;  // that a rank is given at a time
  bool shuffle = true;
  int32_t tail = TDM_TAIL_SHORT;  // or TDM_TAIL_DROP, TDM_TAIL_REPEAT
  uint64_t seed = 0;
  int64_t shuffle_block = 0;        // as in LoaderOptions
  int64_t shuffle_window = 0;       // likewise
  int32_t threads = 1;              // that make micro-batches
  int32_t prefetch = 1;             // micro-batches of this rank made ahead
  int64_t prefetch_bytes = 0;       // 0: 256 MiB
  bool pin_memory = false;          // as in LoaderOptions, and the device
  int32_t device_type = TDM_DEVICE_CPU;
  int32_t device_index = -1;
  int32_t on_io_error = TDM_ON_IO_ERROR_RETRY;  // as in LoaderOptions
  int64_t io_retry_ms = 0;                      // likewise
  int32_t most_failures = 3;        // of a sample in a step, on whichever ranks, before it is left out
  int32_t most_quarantined = 1000;  // samples that may be left out; with one more next() fails
  int64_t lost_after_ms = 30000;    // a rank without a sign of life for so long is given up
  int64_t timeout_ms = 300000;      // of next(), when ranks that live do not complete their parts
  std::string name;                 // of the loader among those that share the store; "": "loader"
  int64_t generation = 1;           // counts up with every new group of the run
  int32_t rank = 0;
  int32_t world_size = 1;
};

// Deals micro-batches of global batches out to whichever rank is free; docs/data.md has how to use it. On every rank:
// next_step(); next() and backward of the sum of the part's losses until there is none; sum the gradients over all
// ranks and divide them by global_count(); step the optimizer; commit().
//
// One thread at a time, but for abort().
class DynamicLoader {
 public:
  // The ranks of one generation meet in the store. `state` is that of a loader of either kind to go on from ("": from
  // the start), `quarantine` what quarantine() gave with it.
  DynamicLoader(const Dataset& dataset, const Store& store, const DynamicLoaderOptions& options = {},
                const std::string& state = "", const std::string& quarantine = "")
      : field_count_(dataset.field_count()) {
    const tdm_dynamic_loader_options given = raw(options);
    check(tdm_loader_create_dynamic(dataset.raw(), store.raw(), &given, state.data(), state.size(), or_null(quarantine),
                                    handle_.out()));
  }
  // Does again what options.rank did by the lines that commit() gave, without a store.
  static DynamicLoader replay(const Dataset& dataset, const std::vector<std::string>& records,
                              const DynamicLoaderOptions& options = {}, const std::string& state = "",
                              const std::string& quarantine = "") {
    DynamicLoader loader(dataset.field_count());
    const auto lines = c_strings(records);
    const tdm_dynamic_loader_options given = raw(options);
    check(tdm_loader_create_replay(dataset.raw(), lines.data(), lines.size(), &given, state.data(), state.size(),
                                   or_null(quarantine), loader.handle_.out()));
    return loader;
  }

  // Steps on each micro-batch, as JSON; before the first step.
  void add_transforms(const std::string& transforms) {
    check(tdm_loader_add_transforms(handle_.get(), transforms.c_str()), "DynamicLoader::add_transforms");
  }
  // Begins the step behind the one that was committed last; false, once, at an epoch's end.
  bool next_step() {
    int32_t has_step = 0;
    check(tdm_loader_next_step(handle_.get(), &has_step), "DynamicLoader::next_step");
    return has_step != 0;
  }
  // Another micro-batch of the step, one tensor a field; empty when all of the global batch is computed, by whichever
  // ranks. Asking for it says that the part before is computed.
  std::vector<Tensor> next() {
    std::vector<tdm_tensor*> given(field_count_);
    int32_t has_part = 0;
    check(tdm_loader_next(handle_.get(), given.data(), given.size(), &has_part), "DynamicLoader::next");
    std::vector<Tensor> part;
    if (has_part) {
      for (tdm_tensor* tensor : given) part.emplace_back(tensor);
    }
    return part;
  }
  // Which samples the rows of the part are that next() gave last; samples of the step, with all its parts.
  std::vector<int64_t> samples() const {
    const tdm_loader_batch about = about_part();
    return std::vector<int64_t>(about.samples, about.samples + about.local_count);
  }
  int64_t step_size() const { return about_part().global_count; }
  // Those of the part that could not be read and are left out.
  int64_t skipped() const { return about_part().skipped; }
  // Instead of computing that part: `sample` of it cannot be computed.
  void fail(int64_t sample, const std::string& reason) {
    check(tdm_loader_fail(handle_.get(), sample, reason.c_str()), "DynamicLoader::fail");
  }

  // The open step, or the next one, and its epoch.
  int64_t epoch() const { return tdm_loader_current_epoch(handle_.get()); }
  int64_t step() const { return tdm_loader_current_step(handle_.get()); }
  // Samples of the step that this rank computed; that all ranks did, 0 before next() gave none.
  int64_t local_count() const { return tdm_loader_step_local_count(handle_.get()); }
  int64_t global_count() const { return tdm_loader_step_global_count(handle_.get()); }

  // The optimizer has made the step. Gives who computed what, a line of JSON for the run's log.
  std::string commit() {
    tdm_string* record = nullptr;
    check(tdm_loader_commit(handle_.get(), &record), "DynamicLoader::commit");
    return take_string(record);
  }
  // From any thread: calls that wait, and all later ones, end with TDM_ERROR_ABORTED.
  void abort() { check(tdm_loader_abort(handle_.get()), "DynamicLoader::abort"); }
  std::string state() const {
    tdm_string* state = nullptr;
    check(tdm_loader_get_state(handle_.get(), &state), "DynamicLoader::state");
    return take_string(state);
  }
  // Samples that are left out, by the steps that this model has seen: JSON, to be kept beside the state.
  std::string quarantine() const {
    tdm_string* samples = nullptr;
    check(tdm_loader_get_quarantine(handle_.get(), &samples), "DynamicLoader::quarantine");
    return take_string(samples);
  }
  // As Loader::statistics().
  std::string statistics() const {
    tdm_string* text = nullptr;
    check(tdm_loader_statistics_text(handle_.get(), &text), "DynamicLoader::statistics");
    return take_string(text);
  }

 private:
  explicit DynamicLoader(size_t field_count) : field_count_(field_count) {}

  tdm_loader_batch about_part() const {
    tdm_loader_batch about = TDM_LOADER_BATCH_INIT;
    check(tdm_loader_get_batch(handle_.get(), &about), "DynamicLoader::next");
    return about;
  }
  static tdm_dynamic_loader_options raw(const DynamicLoaderOptions& options) {
    tdm_dynamic_loader_options raw = TDM_DYNAMIC_LOADER_OPTIONS_INIT;
    raw.batch_size = options.batch_size;
    raw.micro_batch = options.micro_batch;
    raw.shuffle = options.shuffle;
    raw.tail = options.tail;
    raw.seed = options.seed;
    raw.shuffle_block = options.shuffle_block;
    raw.shuffle_window = options.shuffle_window;
    raw.threads = options.threads;
    raw.prefetch = options.prefetch;
    raw.prefetch_bytes = options.prefetch_bytes;
    raw.pin_memory = options.pin_memory;
    raw.device = {options.device_type, options.device_index};
    raw.on_io_error = options.on_io_error;
    raw.io_retry_ms = options.io_retry_ms;
    raw.most_failures = options.most_failures;
    raw.most_quarantined = options.most_quarantined;
    raw.lost_after_ms = options.lost_after_ms;
    raw.timeout_ms = options.timeout_ms;
    raw.name = or_null(options.name);
    raw.generation = options.generation;
    raw.rank = options.rank;
    raw.world_size = options.world_size;
    return raw;
  }

  size_t field_count_;
  Handle<tdm_loader, tdm_loader_free> handle_;
};

}  // namespace tandem::abi
