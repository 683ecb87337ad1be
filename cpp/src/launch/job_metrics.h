// What the launcher knows of how its ranks get on, and whom it tells.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/consoles.h"
#include "launch/metrics_endpoint.h"
#include "launch/options.h"
#include "launch/summary_log.h"
#include "membership/membership.h"
#include "metrics/job/page_server.h"
#include "metrics/job/table.h"

namespace tandem::launch {

// For a loop around poll(2); never blocks. Of a whole launch, whose attempts follow one another. Not thread-safe.
class JobMetrics {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `folder`: for the socket at which workers and `tandem top` reach this. Throws Failure where the port that is asked
  // for, or the folder for TensorBoard, cannot be had.
  JobMetrics(const LaunchOptions& options, const std::string& folder, Consoles& consoles);
  ~JobMetrics();
  JobMetrics(const JobMetrics&) = delete;
  JobMetrics& operator=(const JobMetrics&) = delete;

  // For workers' environment: "" where there is no socket.
  const std::string& path() const { return path_; }

  // All workers start again, which are numbered anew.
  void start_again();
  // `rank` -1: it is to be given one.
  void started(membership::Member member, pid_t pid, int rank, bool replaces);
  // What it is told by who keeps the membership.
  void told(membership::Member member, const membership::Message& message);
  void ended(membership::Member member);
  // By its user: then others have the terminal.
  void suspend(bool suspended);

  void add_polled(std::vector<pollfd>* polled) const;
  std::optional<Time> deadline() const;
  void serve(Time now, membership::Membership& membership);
  // The job is over: says how far it came. Once.
  void finish();

 private:
  // What is told to who asks, for a moment: others may ask often.
  struct Account {
    Time at;
    metrics::Job job;
    std::string json, exposition;  // "": not made yet
  };
  metrics::Job job(const membership::Membership& membership);
  Account& account(const membership::Membership& membership);
  const std::string& json(const membership::Membership& membership);
  const std::string& exposition(const membership::Membership& membership);
  double seconds() const;
  bool is_in_front() const;
  bool is_reported() const { return has_reported_ || (pages_ && pages_->has_pages()); }
  bool gathers(const membership::Membership& membership) const;
  std::optional<MetricsEndpoint::Answer> answer(const std::string& path, const membership::Membership& membership);
  void show(const metrics::Job& job, Time now);
  void log(const metrics::Job& job, Time now, bool is_last);

  const LaunchOptions& options_;
  Consoles& consoles_;
  const Time began_;
  const double progress_;  // seconds between lines; 0: none
  metrics::Job about_;     // but for its ranks
  metrics::Table table_;
  std::optional<metrics::PageServer> pages_;
  std::optional<MetricsEndpoint> endpoint_;
  std::optional<SummaryLog> summary_;
  bool cannot_log_ = false;
  Descriptor folder_;  // which `tandem top` finds by this descriptor
  std::string path_, own_folder_;
  Time next_look_, next_line_;
  std::optional<Account> account_;
  bool is_over_ = false;       // finish() came
  bool is_suspended_ = false;
  bool has_reported_ = false;  // some rank, here or elsewhere
  std::vector<metrics::Rank> ended_;  // of ranks of this epoch: what they have reported last
  std::int64_t ended_epoch_ = 0;
  std::optional<metrics::Job> last_;  // that was shown, or would have been by now
};

}  // namespace tandem::launch
