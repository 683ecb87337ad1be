// The error about a rank that failed, closed the group or died, by what its board has.
#pragma once

#include <string>

#include "comm/shm/layout.h"
#include "tandem/error.h"

namespace tandem::shm {

inline bool has_failed(const Board& board) {
  return board.condition.load() == static_cast<std::uint32_t>(Condition::kFailed);
}
inline bool has_closed(const Board& board) {
  return board.condition.load() == static_cast<std::uint32_t>(Condition::kClosed);
}
inline bool has_ended(const Board& board) {
  return board.condition.load() != static_cast<std::uint32_t>(Condition::kGood);
}

// An Error (kPeerLost) for who is told that a rank of the group failed, and why.
Error ended_by(int rank, const std::string& reason);

// An Error (kPeerLost) for who needs that rank, which closed the group.
Error closed_by(int rank);

// An Error (kPeerLost) for who needs that rank: it failed and published the reason, closed the group, or its process
// ended.
Error lost(const Board& board, int rank);

}  // namespace tandem::shm
