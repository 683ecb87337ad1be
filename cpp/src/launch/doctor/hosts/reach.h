// Connections that an agent tries, all at once.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "comm/sockets.h"
#include "launch/doctor/process.h"

namespace tandem::doctor {

class Reach {
 public:
  // Who answers with `token` is the right one.
  Reach(const std::vector<net::Endpoint>& targets, std::string token, Clock::time_point until);

  bool is_over() const;
  void add_polled(std::vector<pollfd>* polled) const;
  void serve();
  Clock::time_point deadline() const { return until_; }
  // For each target "" where it was reached, else "refused", "timed out", "another program answers there", or the
  // system's words.
  std::vector<std::string> outcomes() const;

 private:
  struct Attempt {
    Descriptor socket;
    bool is_connected = false;
    bool is_over = false;
    std::string got;
    std::string outcome;
  };
  void serve(Attempt& attempt) const;

  std::string token_;
  Clock::time_point until_;
  std::vector<Attempt> attempts_;
};

}  // namespace tandem::doctor
