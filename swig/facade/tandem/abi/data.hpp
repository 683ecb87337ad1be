// RecordIO files, and the loader of batches.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/dataset.hpp"

namespace tandem::abi {

// Writes RecordIO v1. The file appears under its name at close(); without close nothing is left.
class RecordIOWriter {
 public:
  explicit RecordIOWriter(const std::string& path, int32_t compressor = TDM_COMPRESSOR_NONE,
                          uint64_t chunk_bytes = 32u << 20) {
    tdm_recordio_writer_options options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
    options.compressor = compressor;
    options.chunk_bytes = chunk_bytes;
    check(tdm_recordio_writer_create(path.c_str(), &options, handle_.out()));
  }
  void write(const void* data, size_t size) { check(tdm_recordio_writer_write(handle_.get(), data, size)); }
  void finish() { check(tdm_recordio_writer_close(handle_.get())); }

 private:
  Handle<tdm_recordio_writer, tdm_recordio_writer_free> handle_;
};

// A RecordIO v1 file, mapped; each chunk's CRC is verified at its first use. May be used from several threads.
class RecordIOReader {
 public:
  explicit RecordIOReader(const std::string& path) { check(tdm_recordio_reader_create(path.c_str(), handle_.out())); }
  int64_t count() const { return tdm_recordio_reader_count(handle_.get()); }
  // A copy of record `index`.
  std::string get(int64_t index) {
    const void* data = nullptr;
    size_t size = 0;
    check(tdm_recordio_reader_get(handle_.get(), index, &data, &size));
    std::string record(size, '\0');
    check(tdm_recordio_reader_copy(handle_.get(), index, record.data(), size));
    return record;
  }

 private:
  Handle<tdm_recordio_reader, tdm_recordio_reader_free> handle_;
};

struct LoaderOptions {
  int64_t batch_size = 1;  // per rank
  int32_t rank = 0;
  int32_t world_size = 1;
  bool shuffle = true;
  uint64_t seed = 0;
  bool drop_last = false;
  int32_t threads = 1;
  int32_t prefetch = 2;
  bool global_batch = false;      // batch_size is that of all ranks together
  int32_t tail = TDM_TAIL_UNSET;  // as drop_last says
  int64_t shuffle_block = 0;      // samples that stay together; 0: none do
  int64_t shuffle_window = 0;     // blocks that are mixed; 0: 16
  int64_t prefetch_bytes = 0;     // 0: 256 MiB
  bool pin_memory = false;        // batches in page-locked memory; needs CUDA
  // Where batches are, as tdm_loader_options has it.
  int32_t device_type = TDM_DEVICE_CPU;
  int32_t device_index = -1;
  int32_t on_io_error = TDM_ON_IO_ERROR_RETRY;  // where samples cannot be read
  int64_t io_retry_ms = 0;                      // for how long that is tried again; 0: three minutes, -1: not at all
  int64_t timeout_ms = 0;                       // of next(); 0: half an hour, -1: none
};

// Batches of RecordIO files, or of a data set: this rank's part of each global batch of a seeded shuffle.
class Loader {
 public:
  Loader(const std::vector<std::string>& paths, const Fields& fields, const LoaderOptions& options = {})
      : field_count_(fields.size()) {
    const auto pointers = c_strings(paths);
    const tdm_loader_options given = raw(options);
    check(tdm_loader_create(pointers.data(), pointers.size(), fields.data(), fields.size(), &given, handle_.out()));
  }
  explicit Loader(const Dataset& dataset, const LoaderOptions& options = {}) : field_count_(dataset.field_count()) {
    const tdm_loader_options given = raw(options);
    check(tdm_loader_create_from(dataset.raw(), &given, handle_.out()));
  }

  // -1, here and below: unknown, of a data set that is gone through and does not say.
  int64_t sample_count() const { return tdm_loader_sample_count(handle_.get()); }
  int64_t batch_count() const { return tdm_loader_batch_count(handle_.get()); }
  // Steps on each batch in the loader's threads, as JSON; before the first epoch. See tdm_loader_add_transforms().
  void add_transforms(const std::string& transforms) {
    check(tdm_loader_add_transforms(handle_.get(), transforms.c_str()));
  }
  // Drops what is left of the last epoch. first_batch -1: as 0, but the restored epoch where restore() went on, the
  // first time.
  void start_epoch(int64_t epoch, int64_t first_batch = 0) {
    check(tdm_loader_start_epoch(handle_.get(), epoch, first_batch));
  }
  // One tensor a field; empty at the end of the epoch.
  std::vector<Tensor> next() {
    std::vector<tdm_tensor*> raw(field_count_);
    int32_t has_batch = 0;
    check(tdm_loader_next(handle_.get(), raw.data(), raw.size(), &has_batch));
    std::vector<Tensor> batch;
    if (has_batch) {
      for (tdm_tensor* tensor : raw) batch.emplace_back(tensor);
    }
    return batch;
  }
  // Of the batch that next() gave last: its number in the epoch, which samples its rows are …
  int64_t number() const { return about_batch().number; }
  std::vector<int64_t> samples() const {
    const tdm_loader_batch about = about_batch();
    return std::vector<int64_t>(about.samples, about.samples + about.local_count);
  }
  // … how many there are, and in the batches of all ranks together.
  int64_t local_count() const { return about_batch().local_count; }
  int64_t global_count() const { return about_batch().global_count; }
  // Those of this rank's part that could not be read and are left out.
  int64_t skipped() const { return about_batch().skipped; }
  // bool [rows]: which rows are samples.
  Tensor mask() const {
    tdm_tensor* mask = nullptr;
    check(tdm_loader_get_batch_mask(handle_.get(), &mask));
    return Tensor(mask);
  }

  // From any thread: a next() that waits, and all later ones, end with TDM_ERROR_ABORTED.
  void abort() { check(tdm_loader_abort(handle_.get())); }

  // state() counts the batches up to the last one that was committed, and those before the one that next() gave last.
  void commit() { check(tdm_loader_commit(handle_.get(), nullptr)); }
  std::string state() const {
    tdm_string* state = nullptr;
    check(tdm_loader_get_state(handle_.get(), &state));
    return take_string(state);
  }
  // Before the first epoch: goes on where `state` says.
  void restore(const std::string& state) { check(tdm_loader_restore(handle_.get(), state.data(), state.size())); }
  // The epoch to go on with.
  int64_t current_epoch() const { return tdm_loader_current_epoch(handle_.get()); }
  // One line about where time went, which ends with what the bottleneck is.
  std::string statistics() const {
    tdm_string* text = nullptr;
    check(tdm_loader_statistics_text(handle_.get(), &text));
    return take_string(text);
  }

 private:
  static tdm_loader_options raw(const LoaderOptions& options) {
    tdm_loader_options raw = TDM_LOADER_OPTIONS_INIT;
    raw.batch_size = options.batch_size;
    raw.rank = options.rank;
    raw.world_size = options.world_size;
    raw.shuffle = options.shuffle;
    raw.seed = options.seed;
    raw.drop_last = options.drop_last;
    raw.threads = options.threads;
    raw.prefetch = options.prefetch;
    raw.global_batch = options.global_batch;
    raw.tail = options.tail;
    raw.shuffle_block = options.shuffle_block;
    raw.shuffle_window = options.shuffle_window;
    raw.prefetch_bytes = options.prefetch_bytes;
    raw.pin_memory = options.pin_memory;
    raw.device = {options.device_type, options.device_index};
    raw.on_io_error = options.on_io_error;
    raw.io_retry_ms = options.io_retry_ms;
    raw.timeout_ms = options.timeout_ms;
    return raw;
  }
  tdm_loader_batch about_batch() const {
    tdm_loader_batch about = TDM_LOADER_BATCH_INIT;
    check(tdm_loader_get_batch(handle_.get(), &about));
    return about;
  }

  size_t field_count_;
  Handle<tdm_loader, tdm_loader_free> handle_;
};

}  // namespace tandem::abi
