// Batches of tensors from RecordIO files: this rank's part of a seeded shuffle, filled by C++ threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// One field of records of a fixed layout; fields follow one another without gaps, in the host's byte order. A batch has
// a tensor per field, of shape [batch, sizes…].
struct RecordField {
  std::string name;
  at::ScalarType dtype = at::kByte;  // in the record
  std::vector<std::int64_t> sizes;   // of one sample; empty: a scalar
  // Of the batch: dtype itself; float32 from any real type, as (x · scale − mean) / std; int64 from any integer type.
  at::ScalarType out_dtype = at::kByte;
  double mean = 0;
  double std = 1;
  double scale = 1;
};

struct LoaderOptions {
  std::int64_t batch_size = 1;  // per rank
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  bool shuffle = true;
  std::uint64_t seed = 0;
  // The tail of an epoch, less than batch_size × world_size samples: dropped, or dealt out evenly and padded with
  // samples from the epoch's start.
  bool drop_last = false;
  int threads = 1;   // that fill batches; 0: next() fills them itself
  int prefetch = 2;  // batches filled ahead, all threads together; at least one a thread
};

// Reads the records of `paths`, in that order, as one sequence of samples, and deals epochs of them out in batches. The
// sample at a position of an epoch is a pure function of (seed, epoch, position), see sample_order.h, so an epoch can
// be entered at any batch, and batch_size × world_size alone decides which samples make a global batch.
//
// Usage:
//   RecordIODataLoader loader({"train.recordio"},
//                             {{"label", at::kByte, {}, at::kLong}, {"image", at::kByte, {1, 28, 28}, at::kFloat}},
//                             {});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     loader.start_epoch(epoch);
//     while (auto batch = loader.next()) train((*batch)[1], (*batch)[0]);
//   }
//
// Errors: those of RecordIOReader for the files; Error(kInvalidArgument) for fields or options. What a thread meets
// (a damaged chunk, a record of another size) is thrown by the next() that would have returned that batch, naming file,
// chunk and record, and again by each later next() of the epoch.
// One thread at a time; any thread may destroy it. tandem::shutdown() stops it: then next() throws Error(kAborted).
class TANDEM_API RecordIODataLoader {
 public:
  RecordIODataLoader(const std::vector<std::string>& paths, std::vector<RecordField> fields,
                     const LoaderOptions& options);
  ~RecordIODataLoader();
  RecordIODataLoader(const RecordIODataLoader&) = delete;
  RecordIODataLoader& operator=(const RecordIODataLoader&) = delete;

  std::int64_t sample_count() const;
  // Batches that an epoch gives this rank, the same on every rank.
  std::int64_t batch_count() const;
  const std::vector<RecordField>& fields() const;

  // Starts `epoch` at its batch `first_batch`, which may be batch_count(); what is left of another epoch is dropped.
  // Without it, the first next() starts epoch 0.
  void start_epoch(std::int64_t epoch, std::int64_t first_batch = 0);
  // The next batch, a tensor per field; nothing at the end of the epoch. Blocks until it is filled.
  std::optional<std::vector<at::Tensor>> next();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with the shutdown hook
};

}  // namespace tandem
