// Random numbers of one sample, the same on any rank, in any batch and after any restart.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/export.h"
#include "tandem/sample_order.h"  // sample_randomness()

namespace tandem {

// A sequence of random numbers for one purpose ("flip") of one sample, whose sample_randomness() it is given; another
// `stream` gives the same purpose another sequence. SplitMix64 (Steele, Lea, Flood 2014).
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
