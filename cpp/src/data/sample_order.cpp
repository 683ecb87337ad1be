#include "tandem/sample_order.h"

#include <bit>

#include "base/mix.h"

namespace tandem {

Permutation::Permutation(std::int64_t n, std::uint64_t seed, std::uint64_t epoch) : n_(static_cast<std::uint64_t>(n)) {
  const int bits = n > 1 ? std::bit_width(n_ - 1) : 0;
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  std::uint64_t key = mix(mix(seed) ^ (epoch * 0xd1342543de82ef95u + 1));
  for (auto& k : keys_) k = key = mix(key);
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int round = 0; round < kRounds; round += 2) {
    high ^= mix(low ^ keys_[round]) & high_mask_;
    low ^= mix(high ^ keys_[round + 1]) & low_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t Permutation::decrypt(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int round = kRounds - 2; round >= 0; round -= 2) {
    low ^= mix(high ^ keys_[round + 1]) & low_mask_;
    high ^= mix(low ^ keys_[round]) & high_mask_;
  }
  return high << low_bits_ | low;
}

std::int64_t Permutation::operator()(std::int64_t position) const {
  auto value = static_cast<std::uint64_t>(position);
  do {
    value = encrypt(value);
  } while (value >= n_);
  return static_cast<std::int64_t>(value);
}

std::int64_t Permutation::inverse(std::int64_t sample) const {
  auto value = static_cast<std::uint64_t>(sample);
  do {
    value = decrypt(value);
  } while (value >= n_);
  return static_cast<std::int64_t>(value);
}

std::uint64_t sample_randomness(std::uint64_t seed, std::int64_t epoch, std::int64_t sample) {
  return mix(mix(mix(seed), static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(sample));
}

namespace {

class Sequential : public SampleOrder {
 public:
  explicit Sequential(std::int64_t samples) : samples_(samples) {}
  std::int64_t size() const override { return samples_; }
  std::string name() const override { return "in sequence"; }
  void samples(std::uint64_t, std::int64_t, std::int64_t first, std::span<std::int64_t> out) const override {
    for (std::int64_t& sample : out) sample = first++;
  }

 private:
  std::int64_t samples_;
};

class Shuffled : public SampleOrder {
 public:
  explicit Shuffled(std::int64_t samples) : samples_(samples) {}
  std::int64_t size() const override { return samples_; }
  std::string name() const override { return "shuffle"; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    const Permutation order(samples_, seed, static_cast<std::uint64_t>(epoch));
    for (std::int64_t& sample : out) sample = order(first++);
  }

 private:
  std::int64_t samples_;
};

}  // namespace

std::shared_ptr<const SampleOrder> sequential_order(std::int64_t samples) {
  return std::make_shared<Sequential>(samples);
}

std::shared_ptr<const SampleOrder> shuffled_order(std::int64_t samples) {
  return std::make_shared<Shuffled>(samples);
}

}  // namespace tandem
