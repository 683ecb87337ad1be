// Connections between all ranks on which they tell each other that a group has failed or is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/guarded_listener.h"
#include "comm/shm/segment.h"
#include "tandem/error.h"

namespace tandem::hosts {

// A rank that fails sends all others the reason at once, whatever they wait for; so they need not wait for their own
// timeouts, and know the cause. One that closes the group in peace sends that, and after which collective. Thread-safe.
class FailureChannel : public std::enable_shared_from_this<FailureChannel> {
 public:
  using Clock = std::chrono::steady_clock;

  // Connects `rank` to all others. `group` is for errors. Errors: kTimeout and kPeerLost name ranks; what `check`,
  // which is called while it waits, throws.
  static std::vector<shm::Descriptor> connect(int rank, const std::vector<net::GuardedAddress>& addresses,
                                              const net::GuardedListener& socket, const std::string& group,
                                              Clock::time_point deadline, const std::function<void()>& check);

  // What connect() gave.
  explicit FailureChannel(std::vector<shm::Descriptor> sockets);
  FailureChannel(const FailureChannel&) = delete;
  FailureChannel& operator=(const FailureChannel&) = delete;

  // `failed` is told when another rank has failed, once, with kPeerLost and its reason. `busy` gives the number of the
  // collective that runs, counted from 1 on every rank alike, or 0. One before that in which the other rank failed may
  // first come to its end; a rank that closed the group is missed by one that it takes no part in; one that went
  // without a word by one that comes to no end.
  void watch(std::function<void(const Error&)> failed, std::function<std::uint64_t()> busy);
  // Sends to all that this rank failed in the collective of that number, or before it. The first call of the two
  // counts.
  void send_failure(const std::string& reason, std::uint64_t collective);
  // Sends to all that this rank closed the group, after that many collectives.
  void send_closed(std::uint64_t collectives);
  // Who closed the group before the collective of that number, if anybody did: an Error (kPeerLost).
  std::optional<Error> closed_before(std::uint64_t collective) const;
  // Ends the thread that watch() started, which keeps this object. No call of `failed` after that.
  void stop();

 private:
  struct Connection {
    shm::Descriptor socket;
    std::string received;
    bool is_open = false;
    bool is_missed = false;  // it closed without a word
  };

  void serve();
  bool receive(int rank);
  bool on_closed(int rank, std::uint64_t collectives);
  bool is_needed(std::uint64_t* seen);
  void await_earlier(std::uint64_t collective);
  void send_all(const std::string& message);

  std::vector<Connection> connections_;
  std::function<void(const Error&)> failed_;
  std::function<std::uint64_t()> busy_;
  shm::Descriptor wake_;
  std::mutex mutex_;
  bool has_sent_ = false;
  // Of the rank that closed the group first, by the count of collectives.
  std::atomic<std::uint64_t> all_take_part_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<int> first_closed_{-1};
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
};

}  // namespace tandem::hosts
