// Workers that hang say what their threads do, and are killed.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace tandem::launch {

// For a loop around poll(2); never blocks: a process of its own asks, and has so many seconds for it. Not thread-safe.
//
//   end() ── stacks are read ──▶ shown ── a runtime prints its own (SIGQUIT) ──▶ killed
class HungWorkers {
 public:
  using Clock = std::chrono::steady_clock;

  // Once for each process, however often it is called. `said`, as in "rank 1 (pid 4711) gives no sign of life", begins
  // the message. `answers`: see read_thread_stacks(). All stacks go to the file `log`, which is named where
  // `keeps_log`.
  void end(pid_t pid, const std::string& said, const std::string& answers, const std::string& log, bool keeps_log);
  // That child was waited for: a worker, or who asks one. Its number may be another's from here on.
  void ended(pid_t pid);

  void add_polled(std::vector<pollfd>* polled) const;
  // When serve() has something to do, whatever comes before.
  std::optional<Clock::time_point> deadline() const;
  // Goes on with all of them, and gives what is to be said.
  std::vector<std::string> serve(Clock::time_point now);

 private:
  struct Hung {
    pid_t pid;
    std::string said;
    std::string log;
    bool keeps_log = false;
    pid_t asker = -1;
    Descriptor pipe;
    std::string got;
    bool has_ended = false;
    bool has_said = false;
    Clock::time_point deadline;
  };
  static void start_asker(Hung& hung, const std::string& answers);
  // Whether all has come.
  static bool read_some(Hung& hung);

  std::list<Hung> all_;
};

}  // namespace tandem::launch
