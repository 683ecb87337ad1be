// How a job's ranks get on, in a file that TensorBoard shows.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "metrics/job/job.h"
#include "summary/event_file.h"

namespace tandem::launch {

// Scalars of the job (job/loss, job/samples_per_second …) and of its first ranks (loss/rank_0 …), at the steps to which
// these have come: every few seconds, so that a file of a long run stays small.
class SummaryLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `folder` is there. Throws Error(kIo).
  explicit SummaryLog(const std::string& folder);

  // Where it is time, or `is_last`. Throws Error(kIo) where the disk is full.
  void look(const metrics::Job& job, Time now, bool is_last);
  const std::string& path() const { return file_.path(); }

 private:
  void add(const std::string& tag, double value, std::int64_t step);

  EventFile file_;
  std::optional<Time> next_;
  std::int64_t last_step_ = -1;
  std::map<int, std::int64_t> last_steps_;  // by rank
};

}  // namespace tandem::launch
