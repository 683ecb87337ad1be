// Bytes between ranks of several hosts.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "tandem/error.h"

namespace tandem::hosts {

// Between two ranks what is sent arrives in order, each in a receive of its own and of the same size. Nothing is
// copied: memory stays as it is until the transfer is done, or gone. One thread at a time, but for wake().
class Wire {
 public:
  using Clock = std::chrono::steady_clock;

  // Under way; when it is destroyed before it is done, nothing touches its memory any more.
  class Transfer {
   public:
    virtual ~Transfer() = default;
    virtual bool is_send() const = 0;
    // Errors: kTimeout and kPeerLost name the rank; that of the group's latch once it has ended.
    virtual void wait(Clock::time_point deadline) = 0;
  };
  using Transfers = std::vector<std::unique_ptr<Transfer>>;

  virtual ~Wire() = default;

  virtual std::unique_ptr<Transfer> send(int rank, const std::byte* data, std::size_t bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(int rank, std::byte* data, std::size_t bytes) = 0;
  // Has a wait look at the latch. From any thread.
  virtual void wake() = 0;
};

// Waits for all and drops them. What comes in is waited for first: a peer that is gone shows there at once.
inline void finish(Wire::Transfers& transfers, Wire::Clock::time_point deadline) {
  for (const bool sends : {false, true}) {
    for (const auto& one : transfers) {
      if (one->is_send() == sends) one->wait(deadline);
    }
  }
  transfers.clear();
}

}  // namespace tandem::hosts
