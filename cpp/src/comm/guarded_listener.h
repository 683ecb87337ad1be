// A listening socket for those who were told its password.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "comm/sockets.h"

namespace tandem::net {

// Where a process can be connected to, and with which password.
struct GuardedAddress {
  Endpoint endpoint;
  std::string password;

  // Words with spaces between them.
  std::string encode() const;
  static GuardedAddress decode(const std::string& text);
};

// Other processes of the machine, or of the network, may connect: who does not send the password is sent away, by
// whoever accepts the connections.
class GuardedListener {
 public:
  static constexpr std::size_t kPasswordBytes = 32;

  // On this address of the machine, at a free port; the socket does not block. Throws Error (kIo).
  explicit GuardedListener(const std::string& address);
  const GuardedAddress& address() const { return address_; }
  int descriptor() const { return socket_.get(); }
  void close() { socket_.reset(); }
  bool is_password(std::string_view text) const { return text == address_.password; }

 private:
  Descriptor socket_;
  GuardedAddress address_;
};

}  // namespace tandem::net
