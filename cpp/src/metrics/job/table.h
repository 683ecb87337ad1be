// The ranks of one agent, as they are started, get their places, report and end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/job/job.h"
#include "metrics/job/page_server.h"
#include "metrics/job/rank_rates.h"

namespace tandem::metrics {

// Not thread-safe.
class Table {
 public:
  explicit Table(std::string host) : host_(std::move(host)) {}

  // `rank` -1: it has none yet.
  void started(std::int64_t worker, pid_t pid, int rank);
  // `rank` -1: it has none any more.
  void placed(std::int64_t worker, int rank);
  void ended(std::int64_t worker) { workers_.erase(worker); }
  bool has(std::int64_t worker) const { return workers_.contains(worker); }
  void clear() { workers_.clear(); }

  // Reads what all have reported.
  void look(const PageServer& pages, std::int64_t now);
  // Reads what that one has reported, and gives it; nothing where there is none.
  std::optional<Rank> look_at(std::int64_t worker, const PageServer& pages, std::int64_t now);
  // As of the last look; by rank.
  std::vector<Rank> ranks() const;

 private:
  struct Worker {
    pid_t pid = 0;
    int rank = -1;
    pid_t reporting = 0;  // who reports, which it may have started
    Measured measured;
    RankRates rates;
    std::optional<std::int64_t> resident_bytes;
    double age = 0;
  };
  static void look(std::int64_t number, Worker& worker, const PageServer& pages, std::int64_t now);
  Rank rank_of(const Worker& worker) const;

  const std::string host_;
  std::map<std::int64_t, Worker> workers_;
};

// Of a process, as its operating system counts it. Nothing where there is none.
std::optional<std::int64_t> resident_bytes_of(pid_t pid);

}  // namespace tandem::metrics
