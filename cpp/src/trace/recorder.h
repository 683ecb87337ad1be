// What this process does, as a timeline for Chrome's trace viewer and Perfetto. Source: the Trace Event Format.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/identity.h"

namespace tandem {

// One a process. Thread-safe. While it is off, telling it something costs one load.
class TraceRecorder {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static TraceRecorder& instance();

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // What comes after `most_events` is counted, not kept. False when it is on already.
  [[nodiscard]] bool start(TraceIdentity identity, std::int64_t most_events);

  // What one thing does after the other; spans of a track do not overlap, unless one lies in the other. `arguments` is
  // the inside of a JSON object.
  void span(int track, const std::string& track_name, std::string name, Time begun, Time ended, std::string arguments);
  // What goes on beside other things of its category.
  void exchange(const char* category, std::string name, Time begun, Time ended, std::string arguments);

  // Of the trace that is on.
  std::optional<TraceIdentity> identity();

  // Ends it and writes a file that appears whole or not at all. Events are kept for another try where that fails.
  // Errors: kInvalidArgument when it is off, kIo.
  void stop(const std::string& path);
  // Ends it without a file.
  void discard();

 private:
  struct Event {
    std::string name;
    const char* category = nullptr;  // of an exchange; null: a span
    int track = 0;
    std::int64_t begun = 0, ended = 0;  // since the epoch, on rank 0's clock
    std::string arguments;
  };
  void add(Event event, Time begun, Time ended);

  std::atomic<bool> on_{false};
  std::mutex mutex_;
  TraceIdentity identity_;
  Time started_;
  std::size_t most_events_ = 0;
  std::int64_t dropped_ = 0;
  std::vector<Event> events_;
  std::map<int, std::string> tracks_;
};

}  // namespace tandem
