// Random numbers of one sample, the same on any rank, in any batch and after any restart.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/export.h"

namespace tandem {

// What all augmentation of a sample depends on: a hash of (seed, epoch, sample). It never changes between versions.
TANDEM_API std::uint64_t sample_randomness(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample);

// A sequence of random numbers for one purpose ("flip") of one sample; another `stream` gives the same purpose another
// sequence. SplitMix64 (Steele, Lea, Flood 2014).
class TANDEM_API SampleRandom {
 public:
  SampleRandom(std::uint64_t randomness, std::string_view purpose, std::uint64_t stream = 0);

  std::uint64_t next();
  double uniform(double low, double high);                    // in [low, high)
  std::int64_t integer(std::int64_t low, std::int64_t high);  // from low to high, both included
  bool chance(double probability) { return uniform(0, 1) < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace tandem
