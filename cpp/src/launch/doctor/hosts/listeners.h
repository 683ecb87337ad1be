// Where a doctor's agent listens, for others to try whether they reach it.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace tandem::doctor {

// Whoever connects is told the token, so that another program at the same address is not taken for this one.
class Listeners {
 public:
  void set_token(const std::string& token) { token_ = token; }
  // The port: `port`, or a free one for 0. Throws tandem::Error.
  std::uint16_t add(const std::string& address, std::uint16_t port);
  void add_polled(std::vector<pollfd>* polled) const;
  void serve() const;

 private:
  std::string token_;
  std::vector<Descriptor> sockets_;
};

}  // namespace tandem::doctor
