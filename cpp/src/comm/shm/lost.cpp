#include "comm/shm/lost.h"

#include <cstring>
#include <string>

namespace tandem::shm {

Error ended_by(int rank, const std::string& reason) {
  constexpr char kEnded[] = " ended the group: ";
  // It may only pass on what it was told.
  const auto digits = reason.rfind("rank ", 0) == 0 ? reason.find_first_not_of("0123456789", 5) : std::string::npos;
  const bool is_passed_on = digits != std::string::npos && reason.compare(digits, sizeof kEnded - 1, kEnded) == 0;
  return Error(ErrorCode::kPeerLost, is_passed_on ? reason : "rank " + std::to_string(rank) + kEnded + reason);
}

Error closed_by(int rank) {
  return Error(ErrorCode::kPeerLost,
               "rank " + std::to_string(rank) + " closed the group, and takes part in nothing more");
}

Error lost(const Board& board, int rank) {
  const std::string who = "rank " + std::to_string(rank);
  if (has_failed(board)) {
    char reason[sizeof board.reason] = {};  // a peer may have left out the end of the text
    std::memcpy(reason, board.reason, sizeof reason - 1);
    return ended_by(rank, reason);
  }
  if (has_closed(board)) return closed_by(rank);
  return Error(ErrorCode::kPeerLost, who + " closed its connection, because it died or left the group");
}

}  // namespace tandem::shm
