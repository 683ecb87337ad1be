// A connection between two agents: whole messages over TCP.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace tandem::membership {

// Never blocks: what the other side does not take yet waits here. A message is its length, 4 bytes with the highest
// first, and that many bytes. Not thread-safe.
class Link {
 public:
  // Longer messages, and more of them unread, end the connection on either side.
  static constexpr std::size_t kMostBytes = 256 << 10;
  static constexpr std::size_t kMostUnsent = 64 << 20;

  // Of a socket that is connected, or about to be.
  explicit Link(Descriptor socket);
  Link(Link&&) = default;
  Link& operator=(Link&&) = default;

  int fd() const { return socket_.get(); }
  bool has_unsent() const { return !unsent_.empty(); }
  // The other side is gone, or sent what cannot be.
  bool broken() const { return broken_; }

  void send(std::string_view message);
  // As much as the other side takes.
  void write();
  // All that came, in order.
  std::vector<std::string> read();

 private:
  Descriptor socket_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::string received_;
  bool broken_ = false;
};

}  // namespace tandem::membership
