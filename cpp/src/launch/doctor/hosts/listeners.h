// Where a doctor's agent listens, for others to try whether they reach it.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

// Whoever connects is told the token, so that another program at the same address is not taken for this one.
class Listeners {
 public:
  void set_token(const std::string& token) { token_ = token; }
  // At a numeric address. *port: 0 becomes a free one. Returns why it cannot be, or "".
  std::string add(const std::string& address, std::uint16_t* port);
  void add_polled(std::vector<pollfd>* polled) const;
  void serve();
  // When it takes connections again, after a moment without descriptors for them; else the far future.
  Clock::time_point resumes() const { return resumes_; }

 private:
  std::string token_;
  Clock::time_point resumes_ = Clock::time_point::max();
  std::vector<Descriptor> sockets_;
};

}  // namespace tandem::doctor
