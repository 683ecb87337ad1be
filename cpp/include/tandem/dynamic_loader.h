// Micro-batches of global batches for whichever rank is free.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/dataset.h"
#include "tandem/export.h"
#include "tandem/lease_log.h"
#include "tandem/loader.h"
#include "tandem/loader_statistics.h"
#include "tandem/store.h"

namespace tandem {

namespace elastic {
class PartSource;
}

struct DynamicLoaderOptions {
  std::int64_t batch_size = 1;     // of all ranks together
  std::int64_t micro_batch = 1;    // that a rank is given at a time
  bool shuffle = true;             // as in LoaderOptions, …
  std::int64_t shuffle_block = 0;  // … this …
  std::int64_t shuffle_window = 16;
  std::shared_ptr<const SampleOrder> order;                 // … or this, instead of these three
  std::vector<std::shared_ptr<BatchTransform>> transforms;  // of micro-batches
  bool pin_memory = false;
  std::optional<at::Device> device;
  std::uint64_t seed = 0;
  Tail tail = Tail::kShort;  // or kDrop, kRepeat
  int threads = 1;           // that make micro-batches
  int prefetch = 1;          // micro-batches of this rank made ahead …
  // … and bytes of them: none is begun that would be too much, taking it to be as large as the largest so far. The one
  // that next() waits for is made in any case.
  std::int64_t prefetch_bytes = std::int64_t{256} << 20;
  // Of a sample in a step, on whichever ranks, before it is left out; of loading a part whose samples can be loaded one
  // by one, before that is an error.
  int most_failures = 3;
  int most_quarantined = 1000;  // samples that may be left out; with one more a call fails
  // A rank without a sign of life for so long is given up. Where that is who keeps the queue, and after at least 2 s,
  // calls of the others throw Error(kTimeout).
  std::chrono::milliseconds lost_after{30000};
  // Of next(), when ranks that live do not complete their parts. Of the store's answers, when the loader is made, and
  // of those of who keeps the queue, but at least 2 s.
  std::chrono::milliseconds timeout{300000};
  // As in LoaderOptions. A part is computed without what is skipped, and the step's record says which samples those
  // were: they are left out again where the log is run again.
  OnIoError on_io_error = OnIoError::kRetry;
  std::chrono::milliseconds io_retry{180000};
};

// Where the ranks of one generation of a group meet.
struct LeaseMembership {
  Store store;
  std::int64_t generation = 1;  // counts up with every new group of the run
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
  std::string name = "loader";  // of the loader among those that share the store
};

// The dynamic partition: members of a global batch are the same pure function of (seed, epoch, number) as those of
// DataLoader, and its micro-batches go to whichever rank is free, so that faster ranks take more.
//
// Usage, on every rank:
//   while (loader.epoch() < 5) {
//     while (loader.next_step()) {
//       while (auto part = loader.next()) sum_of_losses(*part).backward();  // gradients add up; a rank may get no part
//       all_reduce_sum(gradients);                                          // on every rank
//       divide(gradients, loader.global_count());
//       optimizer.step();
//       log << loader.commit().json() << '\n';
//     }
//   }
//
// A step counts when it is committed: state() is then the position of the model that this rank holds. When ranks are
// lost the group's collectives fail; the survivors form the next generation, take the model, state and quarantine of
// one of them, make a new loader, and the steps that this model has not seen are dealt out again. So every sample
// counts once in the model that survives. A rank that was given up, but lives, gets Error(kAborted) from its next call
// that reaches the others: next(), fail(), or next_step() after commit().
//
// One rank keeps the queue of leases for all of a generation, in memory: the first that comes, which the others learn
// from the store. They ask it over a connection, twice a micro-batch. Where it dies, calls of the others throw
// Error(kPeerLost), and the next generation begins with the position and quarantine that its ranks bring. Who closes
// its loader leaves the generation.
//
// One thread at a time; abort() from any. tandem::shutdown() stops it: then calls throw Error(kAborted).
class TANDEM_API DynamicLoader {
 public:
  // `state` is that of a DynamicLoader or DataLoader to go on from, and `quarantine` what belongs to it; "": from the
  // start. Errors: kInvalidArgument for options, or where ranks of one generation differ in them; kAborted where a
  // newer generation has begun; those of stores, and of DataLoader::restore().
  DynamicLoader(std::shared_ptr<Dataset> dataset, const DynamicLoaderOptions& options,
                const LeaseMembership& membership, std::string_view state = {},
                const std::vector<Quarantined>& quarantine = {});
  // Runs a recorded run again: deals what each rank had out to it, in that order, without a store. Of steps that the
  // log has twice, since a generation ended, the later counts. Errors: those above; next() throws kOutOfRange at the
  // log's end, and kDataLoss for a sample that cannot be loaded any more, or a part that has not as many as the log
  // says.
  DynamicLoader(std::shared_ptr<Dataset> dataset, const DynamicLoaderOptions& options, std::int32_t rank,
                const std::vector<CommittedStep>& log, std::string_view state = {},
                const std::vector<Quarantined>& quarantine = {});
  ~DynamicLoader();
  DynamicLoader(const DynamicLoader&) = delete;
  DynamicLoader& operator=(const DynamicLoader&) = delete;

  // One more step on micro-batches, as if it were the last of DynamicLoaderOptions::transforms; as
  // DataLoader::add_transform() has it. A sample that cannot be loaded is left out; a step that throws is an error of
  // next(). Errors: kInvalidArgument after next_step().
  void add_transform(std::shared_ptr<BatchTransform> transform);

  // Begins the step behind the one that was committed last. At an epoch's end, once, the answer is false. Throws what
  // the others answered to commit().
  bool next_step();
  // Another micro-batch of the step; nothing when all of the global batch is computed, by whichever ranks: then all
  // join the exchange. Asking for it says that the one before is computed. Blocks while others compute. Its
  // global_count is that of the step with all its samples. Errors: kAborted for a rank that was given up, and after
  // abort(); kTimeout naming the ranks that did not complete their parts, or who keeps the queue where it is silent;
  // kPeerLost where that is gone; kDataLoss where too many samples cannot be loaded.
  std::optional<LoadedBatch> next();
  // Instead of computing the part that next() gave last: `sample` of it cannot be computed. The part goes back, and the
  // sample's failures are counted as if it could not be loaded.
  void fail(std::int64_t sample, const std::string& reason);
  std::int64_t epoch() const;
  std::int64_t step() const;          // its number in the epoch
  std::int64_t local_count() const;   // samples of the step that this rank computed
  std::int64_t global_count() const;  // that all ranks did, once next() gave nothing
  // The optimizer has made the step, which state() and quarantine() count from now on, whatever the others say to it:
  // the model has it. What it returns is the record of who computed what: a log of these runs it again.
  CommittedStep commit();
  // From any thread: next() that waits, and all later calls of next_step(), next() and fail(), throw Error(kAborted).
  // The part that next() gave last does not count as computed. commit() of a step that is whole goes on: the model has
  // it.
  void abort();

  // As DataLoader has it, and the same bytes as of one that has come as far.
  std::string state() const;
  // Samples that are left out, by the steps that this model has seen. They belong into the checkpoint beside the state.
  std::vector<Quarantined> quarantine() const;
  std::int64_t sample_count() const;
  const std::vector<std::string>& names() const;  // of the tensors; may be empty
  // Where time went since the loader was made, with micro-batches for batches. Waiting for other ranks at a step's end
  // does not count. Any thread may ask.
  LoaderStatistics statistics() const;

 private:
  struct Impl;
  void begin(std::unique_ptr<elastic::PartSource> parts);
  std::shared_ptr<Impl> impl_;  // shared with the shutdown hook
};

}  // namespace tandem
