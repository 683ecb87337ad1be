// Which positions of an epoch make a global batch, and which of them are whose.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/export.h"

namespace tandem {

// What becomes of the end of an epoch, less than a global batch.
enum class Tail {
  kShort,   // a smaller global batch; ranks may get none of it
  kDrop,    // left out
  kPad,     // a global batch filled up with zeros, which a mask tells from samples
  kRepeat,  // a global batch filled up with the epoch's first samples
  kEven,    // filled up so far only that all ranks get equally many, which depends on their number
};

// An epoch of `positions`, cut into global batches of `batch_size` consecutive ones, and each of these into a slice a
// rank, in the order of ranks; slices differ by one at most. The global batches are the same for every world size, but
// for the last one of Tail::kEven, and so are their number and the order of positions over the ranks' slices.
class TANDEM_API StaticPartition {
 public:
  struct Slice {
    std::int64_t begin;   // first position; those from `positions` on mean the epoch's start again
    std::int64_t size;    // positions
    std::int64_t rows;    // of this rank's batch: more than `size` where it is filled up with zeros
    std::int64_t global;  // positions of all ranks together
  };

  // `origin` is where the first batch begins. Throws Error(kInvalidArgument) unless batch_size and world_size are at
  // least 1, 0 ≤ rank < world_size, 0 ≤ origin ≤ positions.
  StaticPartition(std::int64_t positions, std::int64_t batch_size, std::int64_t rank, std::int64_t world_size,
                  Tail tail, std::int64_t origin = 0);
  std::int64_t batches() const { return batches_; }
  Slice slice(std::int64_t batch) const;
  // Where `batch` begins, and the one before it ends, in positions; that of batches() is the end of what they visit.
  std::int64_t begin(std::int64_t batch) const;

 private:
  struct Share {
    std::int64_t begin;
    std::int64_t size;
  };
  Share share_of(std::int64_t amount) const;

  std::int64_t positions_;
  std::int64_t batch_size_;
  std::int64_t rank_;
  std::int64_t world_size_;
  Tail tail_;
  std::int64_t origin_;
  std::int64_t batches_;
};

}  // namespace tandem
