// Connections between all ranks that carry the news of a group's end.
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

#include "comm/shm/segment.h"
#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem::hosts {

// Where a rank can be called, and what to say for being let in.
struct LineAddress {
  net::Endpoint endpoint;
  std::string password;

  std::string encode() const;
  static LineAddress decode(const std::string& text);
};

// Listens for the lines of one group.
class LineSocket {
 public:
  static constexpr std::size_t kPasswordBytes = 32;

  // On this address of the machine. Throws Error (kIo).
  explicit LineSocket(const std::string& address);
  const LineAddress& address() const { return address_; }
  int descriptor() const { return socket_.get(); }

 private:
  shm::Descriptor socket_;
  LineAddress address_;
};

// Whoever fails tells all others why, at once, whatever they wait for; so they need not wait for their own timeouts,
// and know the cause. Whoever closes the group in peace says that, too, and after which collective. Thread-safe.
class Lines : public std::enable_shared_from_this<Lines> {
 public:
  using Clock = std::chrono::steady_clock;

  // Connects `rank` to all others. `group` is for errors. Errors: kTimeout and kPeerLost name ranks; what `check`,
  // which is called while it waits, throws.
  static std::vector<shm::Descriptor> connect(int rank, const std::vector<LineAddress>& addresses,
                                              const LineSocket& socket, const std::string& group,
                                              Clock::time_point deadline, const std::function<void()>& check);

  // What connect() gave.
  explicit Lines(std::vector<shm::Descriptor> sockets);
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // `failed` is told when another rank has failed, once, with kPeerLost and its reason. `busy` gives the number of the
  // collective that runs, counted from 1 on every rank alike, or 0. One before that in which the other rank failed may
  // first come to its end; a rank that closed the group is missed by one that it takes no part in; one that went
  // without a word by one that comes to no end.
  void watch(std::function<void(const Error&)> failed, std::function<std::uint64_t()> busy);
  // Tells all, that this rank failed in the collective of that number, or before it. The first call of the two counts.
  void alarm(const std::string& reason, std::uint64_t collective);
  // Tells all, that this rank closed the group, after that many collectives.
  void close(std::uint64_t collectives);
  // Who closed the group before the collective of that number, if anybody did: an Error (kPeerLost).
  std::optional<Error> closed_before(std::uint64_t collective) const;
  // Ends the thread that watch() started, which keeps this object. No call of `failed` after that.
  void stop();

 private:
  struct Line {
    shm::Descriptor socket;
    std::string heard;
    bool is_open = false;
    bool is_missed = false;  // it closed without a word
  };

  void serve();
  bool listen(int rank);
  bool note_closed(int rank, std::uint64_t collectives);
  bool is_needed(std::uint64_t* seen);
  void let_end(std::uint64_t before);
  void tell(const std::string& message);

  std::vector<Line> lines_;
  std::function<void(const Error&)> failed_;
  std::function<std::uint64_t()> busy_;
  shm::Descriptor wake_;
  std::mutex mutex_;
  bool told_ = false;
  // Of the rank that closed the group first, by the count of collectives.
  std::atomic<std::uint64_t> all_take_part_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<int> first_closed_{-1};
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
};

}  // namespace tandem::hosts
