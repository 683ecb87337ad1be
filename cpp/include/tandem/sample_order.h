// The order in which an epoch visits its samples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
  // The position of `sample`.
  std::int64_t inverse(std::int64_t sample) const;

 private:
  static constexpr int kRounds = 12;
  std::uint64_t encrypt(std::uint64_t value) const;
  std::uint64_t decrypt(std::uint64_t value) const;

  std::uint64_t n_;
  int low_bits_ = 0;
  std::uint64_t low_mask_ = 0;
  std::uint64_t high_mask_ = 0;
  std::uint64_t keys_[kRounds];
};

// What all randomness of a sample (its augmentation) is to follow from, whatever rank or thread loads it: a hash of
// seed, epoch and sample. It never changes either.
TANDEM_API std::uint64_t sample_randomness(std::uint64_t seed, std::int64_t epoch, std::int64_t sample);

// Which samples an epoch visits, and in which order, as a function of seed, epoch and position: so an epoch can be
// entered anywhere, on any rank. Thread-safe.
class TANDEM_API SampleOrder {
 public:
  virtual ~SampleOrder() = default;
  // Positions of an epoch.
  virtual std::int64_t size() const = 0;
  // The samples at positions first … first + out.size() - 1.
  virtual void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first,
                       std::span<std::int64_t> out) const = 0;
  // What tells it from others in a saved state, up to 80 bytes: "block shuffle of 1024 in 16".
  virtual std::string name() const = 0;
};

// 0, 1, 2 … in every epoch.
TANDEM_API std::shared_ptr<const SampleOrder> sequential_order(std::int64_t samples);

// Permutation(samples, seed, epoch).
TANDEM_API std::shared_ptr<const SampleOrder> shuffled_order(std::int64_t samples);

// For files that are read by the chunk (compressed, remote): shuffles blocks of `block` consecutive samples, then the
// samples within each `window` consecutive ones of the shuffled blocks, so that not more than `window` blocks are in
// use at a time. Constant time and memory for a position, as above. Throws Error(kInvalidArgument) unless both are
// positive.
TANDEM_API std::shared_ptr<const SampleOrder> block_shuffled_order(std::int64_t samples, std::int64_t block,
                                                                   std::int64_t window);

}  // namespace tandem
