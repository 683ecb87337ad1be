// Horovod's --host-discovery-script: a command that prints which hosts there are now, a line each.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/host_list.h"
#include "launch/signals.h"

namespace tandem::launch {

// Runs it every few seconds. Not thread-safe.
class HostDiscovery {
 public:
  using Time = std::chrono::steady_clock::time_point;

  HostDiscovery(std::string command, const Signals& signals) : command_(std::move(command)), signals_(signals) {}
  ~HostDiscovery();
  HostDiscovery(const HostDiscovery&) = delete;
  HostDiscovery& operator=(const HostDiscovery&) = delete;

  void add_polled(std::vector<pollfd>* polled) const;
  // When to call serve() at the latest.
  Time deadline() const { return next_; }
  // Reads what it prints, begins it where it is time to, and ends one that takes too long.
  void serve(Time now);
  // Whether the process with that number was this one's.
  bool take_end(pid_t pid, int status);
  // What it named last, once; nothing before it ends.
  std::optional<std::vector<Host>> take_hosts();
  // Why it named none, once; "": there is nothing to say.
  std::string take_error();

 private:
  void begin(Time now);
  void read_some();

  std::string command_;
  const Signals& signals_;
  pid_t pid_ = -1;
  Descriptor out_;
  std::string said_;
  Time next_ = Time::min();  // to begin it, or to end it
  std::optional<std::vector<Host>> hosts_;
  std::string error_, last_error_;
};

}  // namespace tandem::launch
