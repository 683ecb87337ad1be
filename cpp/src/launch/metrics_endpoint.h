// Where Prometheus reads how a job's ranks get on.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace tandem::launch {

// Answers GET over HTTP/1.1, one request a connection. In the launcher's own loop around poll(2), for that process
// forks workers and has to stay single-threaded; never blocks. Who does not ask within seconds, or asks for too much,
// is cut off. Not thread-safe.
class MetricsEndpoint {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `port` 0: a free one. Throws Failure where it cannot be had.
  MetricsEndpoint(const std::string& address, int port);

  // "http://127.0.0.1:9400/metrics"
  const std::string& url() const { return url_; }

  void add_polled(std::vector<pollfd>* polled) const;
  std::optional<Time> deadline() const;

  struct Answer {
    std::string type, body;
  };
  // `answer`: of a path; nothing where there is none.
  void serve(Time now, const std::function<std::optional<Answer>(const std::string& path)>& answer);

 private:
  struct Connection {
    Descriptor socket;
    Time until;
    std::string request, answer;
    std::size_t sent = 0, drained = 0;
    bool over = false;
    bool is_sent() const { return sent == answer.size(); }
  };

  Descriptor listener_;
  std::string url_;
  std::list<Connection> connections_;
  std::optional<Time> short_until_;  // of descriptors: nobody is taken before
};

}  // namespace tandem::launch
