// Where an agent takes its workers' pages, and answers `tandem top`.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "metrics/page.h"

namespace tandem::metrics {

// Messages are texts: "page N" with a page's memory, from the worker with that number; "job", which is answered by
// messages whose bytes together are a JSON document, and then the connection's end.
inline constexpr const char* kAskForJob = "job";
// Of an answer, in one message.
inline constexpr std::size_t kAnswerBytes = 16 << 10;

// For a loop around poll(2); never blocks. Serves this user alone. Not thread-safe.
class PageServer {
 public:
  // Of a socket that listens, of whole messages (SOCK_SEQPACKET).
  explicit PageServer(Descriptor listener) : listener_(std::move(listener)) {}

  using Time = std::chrono::steady_clock::time_point;
  void add_polled(std::vector<pollfd>* polled) const;
  std::optional<Time> deadline() const;
  struct Handlers {
    std::function<bool(std::int64_t worker)> knows;  // whether it runs
    std::function<std::string()> job;                // the answer
  };
  void serve(const Handlers& handlers);

  // Of that worker, or of what it has started: whoever came last.
  struct Reporting {
    pid_t pid;  // whose page it is
    Measured measured;
  };
  std::optional<Reporting> read(std::int64_t worker) const;
  bool has_pages() const { return !pages_.empty(); }
  void forget(std::int64_t worker) { pages_.erase(worker); }
  void forget_all() { pages_.clear(); }

 private:
  struct Connection {
    Descriptor socket;
    pid_t pid = 0;
    Time until;
    std::deque<std::string> unsent;
    bool ends = false;  // once all is sent
    bool broken = false;
  };
  struct Reporter {
    pid_t pid;
    Page page;
  };
  bool has_descriptor() const;
  void receive(Connection& connection, const Handlers& handlers);
  static void write(Connection& connection);

  Descriptor listener_;
  std::list<Connection> connections_;
  std::optional<Time> short_until_;  // of descriptors: none is taken before
  std::map<std::int64_t, Reporter> pages_;  // by worker
};

}  // namespace tandem::metrics
