#include "tandem/sample_random.h"

#include "base/mix.h"

namespace tandem {

SampleRandom::SampleRandom(std::uint64_t randomness, std::string_view purpose, std::uint64_t stream) {
  state_ = mix(mix(randomness ^ fnv1a(purpose)) ^ stream);
}

std::uint64_t SampleRandom::next() {
  const std::uint64_t number = mix(state_);
  state_ += kSplitMixStep;
  return number;
}

double SampleRandom::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
}

std::int64_t SampleRandom::integer(std::int64_t low, std::int64_t high) {
  // The upper half of a product is uniform up to 2^-64 of the range (Lemire 2019).
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return low + static_cast<std::int64_t>(static_cast<unsigned __int128>(next()) * range >> 64);
}

}  // namespace tandem
