// Samples that come one after the other: what cannot be asked for by number.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

// One way through an epoch, used by one thread at a time, not always the same.
class TANDEM_API SampleStream {
 public:
  virtual ~SampleStream();
  // The next sample; nothing at the end.
  virtual std::optional<std::vector<at::Tensor>> next() = 0;
  // Leaves `count` samples out; gives how many there were to leave out, less where it ended. The default takes each and
  // drops it; a stream that can do it for less makes ranks, threads and resuming cheaper.
  virtual std::int64_t skip(std::int64_t count);
};

// A data set of which each epoch is a sequence of samples, made anew from its start for whoever goes through it. A
// DataLoader takes it in place of a Dataset, with options of `shuffle` off.
//
// Guarantees that hold as for a Dataset, as far as every stream of an epoch gives the same sequence, in every process:
// global batches are the same on any number of ranks and threads, each sample is in one of them, states resume
// anywhere, and all ranks take equally many steps, whatever the tail. A sample's number is its place in the sequence.
//
// What it gives up:
// - Places cost going there. Each rank, and each of a loader's threads, has a stream of its own and goes through all
//   samples, skipping those that are others'; a state that is restored skips all before it. skip() says what that
//   costs.
// - The loader does not shuffle: the order is the stream's, which is told seed and epoch for it.
// - Its length may be unknown. Then the number of batches is unknown until an epoch ends (DataLoader::sample_count()
// and
//   batch_count() are -1), and its last global batch, where that is not full, is read again from the start by ranks
//   of more than one.
// A stream that cannot be had twice (a socket, a queue) is no such sequence: give each rank's loader a world_size of 1
// and one thread; states do not resume then.
class TANDEM_API IterableDataset {
 public:
  virtual ~IterableDataset();
  // From the start of an epoch. Called by several threads at once.
  virtual std::unique_ptr<SampleStream> stream(std::uint64_t seed, std::int64_t epoch) = 0;
  // Samples of each epoch; -1: unknown. A stream that ends earlier is an error, and what it has beyond is left out.
  virtual std::int64_t size() const { return -1; }
  // Of a sample's tensors; may be empty.
  virtual std::vector<std::string> names() const { return {}; }
  // As Dataset::fingerprint().
  virtual std::uint64_t fingerprint() const;
};

}  // namespace tandem
