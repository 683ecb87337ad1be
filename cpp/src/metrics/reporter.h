// What this process measures of a job, told to the agent that started it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "metrics/page.h"
#include "tandem/metrics.h"

namespace tandem::metrics {

// One a process. Calls never wait for the agent, whatever state it is in: they write into memory that it reads. Without
// an agent they do nothing. Thread-safe.
class Reporter {
 public:
  static Reporter& of_process();

  void report(const StepMetrics& metrics);
  // Of trainings that count their steps: report() does not.
  void step(std::int64_t completed);
  void add_wait(std::int64_t nanoseconds);
  // Of calls that have ended since the one before.
  void add_calls(const CallTotals& ended);
  // Whether there is somebody to tell.
  bool is_on() const { return on_; }

 private:
  Reporter();
  void write();
  bool connect();

  const bool on_;
  std::mutex mutex_;
  Measured measured_;
  bool is_counted_ = false;  // by step()
  bool is_lost_ = false;     // nobody will take the page
  std::int64_t try_at_ = 0;
  std::optional<Page> page_;
};

}  // namespace tandem::metrics
