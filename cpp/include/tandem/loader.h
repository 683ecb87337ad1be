// Batches of tensors from a data set: this rank's part of each global batch of a seeded shuffle, made ahead by C++
// threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/batch.h"
#include "tandem/dataset.h"
#include "tandem/export.h"
#include "tandem/io_errors.h"
#include "tandem/iterable_dataset.h"
#include "tandem/loader_statistics.h"
#include "tandem/partition.h"
#include "tandem/sample_order.h"

namespace tandem {

struct LoaderOptions {
  std::int64_t batch_size = 1;  // of all ranks together …
  bool per_rank = false;        // … or of each one
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  bool shuffle = true;
  std::int64_t shuffle_block = 0;    // samples that stay together, see block_shuffled_order(); 0: none do
  std::int64_t shuffle_window = 16;  // blocks that are mixed
  // Which samples an epoch visits, in place of the three before; see samplers.h. The data set may have others.
  std::shared_ptr<const SampleOrder> order{};
  std::uint64_t seed = 0;
  Tail tail = Tail::kShort;
  int threads = 1;   // that make batches; 0: next() makes them itself
  int prefetch = 2;  // batches made ahead, all threads together; at least one a thread
  // Bytes of the batches that are ready or being made: a thread waits rather than begin one that would be too much,
  // taking it to be as large as the largest so far. The batch that next() waits for is made in any case.
  std::int64_t prefetch_bytes = std::int64_t{256} << 20;
  // What becomes of each batch, in the loader's threads, one step after the other; see DataLoader::add_transform().
  std::vector<std::shared_ptr<BatchTransform>> transforms{};
  // Batches in page-locked memory, from which copies to a GPU run beside computation (Tensor::to() with non_blocking).
  // Error(kUnsupported) in a process without CUDA.
  bool pin_memory = false;
  // Where all tensors of batches are, but LoadedBatch::mask(); unset: on the CPU. For a GPU (index -1: the current one
  // of the thread that makes the loader) they are made in pinned memory, whatever pin_memory says, and copied by the
  // loader's threads, ahead of their use, on a stream of their own. next() has the stream that is current for its
  // thread wait for the copies, not the CPU; other streams have to wait for that one. Their bytes, and those in pinned
  // memory that are not copied yet, count for prefetch_bytes. Errors of DataLoader(): kUnsupported where this process
  // cannot use such a device, kOutOfRange past the last one.
  std::optional<at::Device> device{};
  // Where samples cannot be read, and for how long that is tried again: an outage of minutes is no end of a run. A
  // stream cannot skip.
  OnIoError on_io_error = OnIoError::kRetry;
  std::chrono::milliseconds io_retry{180000};
  // Of next(), for a batch that is not made: Error(kTimeout), and a later next() waits for it again. 0: none. Without
  // threads next() makes batches itself, and only what it reads has a bound.
  std::chrono::milliseconds timeout{1800000};
};

// A rank's part of a global batch.
struct LoadedBatch {
  std::vector<at::Tensor> tensors;  // of shape [rows, …]
  std::int64_t epoch = 0;
  std::int64_t number = 0;  // in the epoch
  std::int64_t rows = 0;
  // Samples in it, and in all ranks' parts. A mean over a rank's samples counts local × ranks ÷ global in the mean over
  // ranks, for that to be the mean over the global batch. Rows from local_count on are zeros (Tail::kPad).
  std::int64_t local_count = 0;
  std::int64_t global_count = 0;
  std::vector<std::int64_t> samples;                      // whose rows they are, local_count of them
  std::vector<std::uint64_t> randomness;                  // sample_randomness() of each
  std::shared_ptr<const std::vector<std::string>> names;  // of the tensors; may be empty
  // Samples of this rank's part that could not be read and are left out (OnIoError::kSkip); they are in global_count.
  // Rows are fewer by them, but with Tail::kPad, whose rows stay as many.
  std::int64_t skipped = 0;

  const at::Tensor& operator[](std::size_t field) const { return tensors.at(field); }
  // By name. Throws Error(kNotFound).
  TANDEM_API const at::Tensor& operator[](std::string_view name) const;
  // The texts of a schema's field of bytes, padded or of one size, one a row. Throws Error(kNotFound), and
  // Error(kInvalidArgument) for another field.
  TANDEM_API std::vector<std::string> strings(std::string_view name) const;
  // Bool [rows], on the CPU: which of them are samples.
  TANDEM_API at::Tensor mask() const;
};

// Deals epochs of a data set out in batches. Which samples make a global batch is a pure function of (seed, epoch,
// number), whatever the number of ranks, threads and batches ahead; see sample_order.h and partition.h.
//
// Usage:
//   DataLoader loader(record_dataset({"train.recordio"}, {{"label", at::kByte, {}, at::kLong},
//                                                         {"image", at::kByte, {1, 28, 28}, at::kFloat}}),
//                     {.batch_size = 64});
//   for (std::int64_t epoch = loader.current_epoch(); epoch < 5; ++epoch) {
//     for (LoadedBatch& batch : loader.epoch(epoch)) {
//       train(batch["image"], batch["label"]);  // and step the optimizer
//       loader.commit();
//       if (it_is_time()) save(model, loader.state());
//     }
//   }
//
// Errors: Error(kInvalidArgument) for options. What a thread meets (a damaged chunk, a record of another size) is
// thrown by the next() that would have returned that batch, naming file, chunk and record, and again by each later
// next() of the epoch. One thread at a time, but for abort() and statistics(); any thread may destroy it.
// tandem::shutdown() stops it: then next() throws Error(kAborted).
class TANDEM_API DataLoader {
 public:
  DataLoader(std::shared_ptr<Dataset> dataset, const LoaderOptions& options);
  // Goes through samples that come one after the other; see there for what that costs, and which options it takes.
  DataLoader(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options);
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  // -1 where it is unknown: of a data set that is gone through and does not say.
  std::int64_t sample_count() const;
  // Batches of an epoch, the same on every rank; -1 where that is unknown.
  std::int64_t batch_count() const;
  const std::vector<std::string>& names() const;

  // One more step, as if it were the last of LoaderOptions::transforms. A step sees a rank's part of a global batch,
  // with the randomness of each row: 0 for rows of zeros. Of a part without samples it sees one such row, which is left
  // out afterwards. What it throws is thrown by the next() that would have returned that batch, naming batch and
  // samples. Threads call it with one core each, and without gradients. Errors: kInvalidArgument after start_epoch() or
  // next().
  void add_transform(std::shared_ptr<BatchTransform> transform);

  // Starts `epoch` at its batch `first_batch`, which may be batch_count(); what is left of another epoch is dropped.
  void start_epoch(std::int64_t epoch, std::int64_t first_batch);
  // At its start; the epoch of restore() where that left it, the first time. Without it, the first next() starts
  // current_epoch().
  void start_epoch(std::int64_t epoch);
  // The next batch; nothing at the end of the epoch. Blocks until it is made, for LoaderOptions::timeout at most: then
  // Error(kTimeout), which says what the batch waits for.
  std::optional<LoadedBatch> next();
  // From any thread: next() that waits, and all later calls of start_epoch() and next(), throw Error(kAborted). Waits
  // for no thread of the loader's. commit() and state() go on.
  void abort();

  class Epoch;
  // start_epoch(epoch), and its batches as a range.
  Epoch epoch(std::int64_t epoch);

  // Where training goes on: state() counts the batches up to the last one that was committed, and those before the one
  // that next() gave last, which the program was done with when it asked for that. What is only made ahead never
  // counts. So commit() after the optimizer's step, and save the model with state() then.
  void commit();
  // The same bytes on every rank, less than 256; see LoaderState.
  std::string state() const;
  // Goes on where `state` says: with its seed and epoch, at the sample where its last batch ended, on however many
  // ranks, with batches of this loader's size. Errors: those of LoaderState::parse(); kInvalidArgument where it is of
  // another data set, naming both fingerprints, or of another order, or after start_epoch() or next().
  void restore(std::string_view state);
  // The epoch to go on with: 0, or that of restore(); after an epoch's last batch the one behind it.
  std::int64_t current_epoch() const;

  // Where time went since the loader was made. Any thread may ask.
  LoaderStatistics statistics() const;

 private:
  struct Impl;
  explicit DataLoader(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared with the shutdown hook
};

// An input range over the batches of one epoch.
class DataLoader::Epoch {
 public:
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = LoadedBatch;
    using difference_type = std::ptrdiff_t;

    LoadedBatch& operator*() const { return *epoch_->batch_; }
    Iterator& operator++() {
      epoch_->batch_.reset();  // before another one is made room for
      epoch_->batch_ = epoch_->loader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !epoch_->batch_; }

   private:
    friend class Epoch;
    explicit Iterator(Epoch* epoch) : epoch_(epoch) {}
    Epoch* epoch_;
  };

  Iterator begin() {
    batch_ = loader_->next();
    return Iterator(this);
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class DataLoader;
  explicit Epoch(DataLoader* loader) : loader_(loader) {}
  DataLoader* loader_;
  std::optional<LoadedBatch> batch_;
};

}  // namespace tandem
