#include "tandem/partition.h"

#include <algorithm>

#include "tandem/error.h"

namespace tandem {

StaticPartition::StaticPartition(std::int64_t positions, std::int64_t batch_size, std::int64_t rank,
                                 std::int64_t world_size, Tail tail, std::int64_t origin)
    : positions_(positions),
      batch_size_(batch_size),
      rank_(rank),
      world_size_(world_size),
      tail_(tail),
      origin_(origin) {
  const auto invalid = [](const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); };
  if (batch_size < 1) invalid("batch_size is " + std::to_string(batch_size) + ", but must be at least 1");
  if (world_size < 1) invalid("world_size is " + std::to_string(world_size) + ", but must be at least 1");
  if (rank < 0 || rank >= world_size) {
    invalid("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(world_size));
  }
  if (origin < 0 || origin > positions) {
    invalid("position " + std::to_string(origin) + " is not within an epoch of " + std::to_string(positions));
  }
  batches_ = (positions - origin) / batch_size;
  if (tail != Tail::kDrop && (positions - origin) % batch_size > 0) ++batches_;
}

StaticPartition::Share StaticPartition::share_of(std::int64_t amount) const {
  const std::int64_t each = amount / world_size_;
  const std::int64_t more = amount % world_size_;  // of one, for the first so many ranks
  return {rank_ * each + std::min(rank_, more), each + (rank_ < more ? 1 : 0)};
}

StaticPartition::Slice StaticPartition::slice(std::int64_t batch) const {
  const std::int64_t first = begin(batch);
  const std::int64_t left = positions_ - first;
  const Share full = share_of(batch_size_);
  if (left >= batch_size_ || tail_ == Tail::kRepeat) return {first + full.begin, full.size, full.size, batch_size_};
  if (tail_ == Tail::kEven) {
    const std::int64_t each = (left + world_size_ - 1) / world_size_;
    return {first + rank_ * each, each, each, each * world_size_};
  }
  // Samples before zeros: each rank's share of both differs by one at most.
  const Share share = share_of(left);
  return {first + share.begin, share.size, tail_ == Tail::kPad ? full.size : share.size, left};
}

std::int64_t StaticPartition::begin(std::int64_t batch) const {
  return std::min(origin_ + batch * batch_size_, positions_);
}

}  // namespace tandem
