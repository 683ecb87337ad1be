// The launches of this user on this machine, found without a list that anybody keeps.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "metrics/job/job.h"

namespace tandem::launch {

struct RunningJob {
  pid_t supervisor = -1;
  std::string socket;  // of launch/job_metrics.h
};
std::vector<RunningJob> running_jobs();

// How it gets on. Nothing where it does not say so within a few seconds: it has just ended, or is stopped.
std::optional<metrics::Job> ask_job(const RunningJob& job);

// The same of a launcher that was given --metrics-port, on any machine. Throws Failure.
metrics::Job ask_job(const std::string& host, int port);

}  // namespace tandem::launch
