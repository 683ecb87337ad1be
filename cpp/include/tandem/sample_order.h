// The order in which an epoch visits its samples, and which of them are whose.
#pragma once

#include <cstdint>

#include "tandem/export.h"

namespace tandem {

// A permutation of 0 … n-1 that is a pure function of (seed, epoch): any position is found in constant time and memory,
// on any rank, without an array of indices.
//
// A Feistel network permutes the smallest range of a power of two that holds n, and is applied again while it leads
// outside. The order for a (seed, epoch) is part of what checkpoints rely on: it never changes.
class TANDEM_API Permutation {
 public:
  // n from 0 to 2^62.
  Permutation(std::int64_t n, std::uint64_t seed, std::uint64_t epoch);
  // The sample at `position`, 0 ≤ position < n.
  std::int64_t operator()(std::int64_t position) const;

 private:
  static constexpr int kRounds = 12;
  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t n_;
  int low_bits_ = 0;
  std::uint64_t low_mask_ = 0;
  std::uint64_t high_mask_ = 0;
  std::uint64_t keys_[kRounds];
};

// How an epoch of `samples` is cut into global batches of batch_size × world_size consecutive positions, and each of
// these into one slice a rank. Any world size with the same product sees the same global batches.
class TANDEM_API StaticPartition {
 public:
  struct Slice {
    std::int64_t begin;  // first position; those from `samples` on mean the epoch's start again
    std::int64_t size;
  };

  // All at least 1 but samples; throws Error(kInvalidArgument). Without drop_last the tail is dealt out evenly, padded
  // from the epoch's start so that all ranks get equally many.
  StaticPartition(std::int64_t samples, std::int64_t batch_size, std::int64_t rank, std::int64_t world_size,
                  bool drop_last);
  std::int64_t batches() const { return batches_; }
  Slice slice(std::int64_t batch) const;

 private:
  std::int64_t batch_size_;
  std::int64_t rank_;
  std::int64_t global_;
  std::int64_t batches_;
  std::int64_t tail_batch_size_ = 0;
};

}  // namespace tandem
