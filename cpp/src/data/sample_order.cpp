#include "tandem/sample_order.h"

#include <bit>
#include <string>

#include "tandem/error.h"

namespace tandem {
namespace {

// The finaliser of SplitMix64: every input bit changes every output bit with a probability near one half.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

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

std::int64_t Permutation::operator()(std::int64_t position) const {
  auto value = static_cast<std::uint64_t>(position);
  do {
    value = encrypt(value);
  } while (value >= n_);
  return static_cast<std::int64_t>(value);
}

StaticPartition::StaticPartition(std::int64_t samples, std::int64_t batch_size, std::int64_t rank,
                                 std::int64_t world_size, bool drop_last)
    : batch_size_(batch_size), rank_(rank) {
  const auto invalid = [](const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); };
  if (batch_size < 1) invalid("batch_size is " + std::to_string(batch_size) + ", but must be at least 1");
  if (world_size < 1) invalid("world_size is " + std::to_string(world_size) + ", but must be at least 1");
  if (rank < 0 || rank >= world_size) {
    invalid("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(world_size));
  }
  if (__builtin_mul_overflow(batch_size, world_size, &global_)) {
    invalid("batch_size × world_size is too large: " + std::to_string(batch_size) + " × " + std::to_string(world_size));
  }
  batches_ = samples / global_;
  const std::int64_t tail = samples % global_;
  if (tail > 0 && !drop_last) {
    tail_batch_size_ = (tail + world_size - 1) / world_size;
    ++batches_;
  }
}

StaticPartition::Slice StaticPartition::slice(std::int64_t batch) const {
  const bool tail = tail_batch_size_ > 0 && batch == batches_ - 1;
  const std::int64_t size = tail ? tail_batch_size_ : batch_size_;
  return {batch * global_ + rank_ * size, size};
}

}  // namespace tandem
