#include "tandem/sample_random.h"

#include "data/mix.h"

namespace tandem {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

}  // namespace

SampleRandom::SampleRandom(std::uint64_t randomness, std::string_view purpose, std::uint64_t stream) {
  std::uint64_t name = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : purpose) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  state_ = mix(mix(randomness ^ name) ^ stream);
}

std::uint64_t SampleRandom::next() {
  const std::uint64_t number = mix(state_);
  state_ += kGolden;
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
