#include "comm/shm/lost.h"

#include <cstring>
#include <string>

namespace tandem::shm {

Error lost(const Board& board, int rank) {
  const std::string who = "rank " + std::to_string(rank);
  if (has_failed(board)) {
    char reason[sizeof board.reason] = {};  // a peer may have left out the end of the text
    std::memcpy(reason, board.reason, sizeof reason - 1);
    return Error(ErrorCode::kPeerLost, who + " ended the group: " + reason);
  }
  if (has_left(board)) return Error(ErrorCode::kPeerLost, who + " closed its connection, because it left the group");
  return Error(ErrorCode::kPeerLost, who + " closed its connection, because it died or left the group");
}

}  // namespace tandem::shm
