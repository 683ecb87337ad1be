// A page of memory in which a process of a job keeps what it measures, for its agent to read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/descriptor.h"

namespace tandem::metrics {

// The environment's variable for workers: the path of the socket at which their agent takes pages.
inline constexpr const char* kMetricsVariable = "TANDEM_METRICS";

// Calls of this process to others, that have ended (tandem/rpc.h).
struct CallTotals {
  std::int64_t calls = 0, failed = 0, bytes_sent = 0, bytes_received = 0;
  double seconds = 0;  // of those that succeeded, in all
  bool operator==(const CallTotals&) const = default;
};

// What a process has measured so far.
struct Measured {
  std::int64_t step = -1;     // completed; -1: not said
  std::int64_t epoch = 0;     // over the data, from 1; 0: not said
  std::int64_t samples = -1;  // trained by this process; -1: not said
  std::optional<double> loss;
  std::optional<double> wait_seconds;  // for other ranks
  std::optional<CallTotals> calls;
  std::int64_t reported_at = 0;        // ns of the system's monotonic clock; 0: never
};

// Nanoseconds of the clock of Measured::reported_at, which all processes of a machine share.
std::int64_t monotonic_now();

// Memory without a file, which can never get smaller, so that neither side faults on it. One process writes, at the
// price of a few stores; another one reads, whenever it wants to. Neither waits for the other.
class Page {
 public:
  // Made by who writes. Nothing where the system has no such memory.
  static std::optional<Page> make();
  // Of who made it. Nothing where it is no page, or could get smaller.
  static std::optional<Page> open(Descriptor memory);
  ~Page();
  Page(Page&& other) noexcept;
  Page& operator=(Page&& other) noexcept;

  // Of the memory, for another process; of who made it.
  int fd() const { return memory_.get(); }
  // One thread at a time.
  void write(const Measured& measured);
  // Nothing where nothing was written, or the writer stands still in the middle of it.
  std::optional<Measured> read() const;

 private:
  struct Content;
  Page(Descriptor memory, Content* content) : memory_(std::move(memory)), content_(content) {}

  Descriptor memory_;
  Content* content_;
};

}  // namespace tandem::metrics
