// A job's ranks as Prometheus reads them.
#pragma once

#include <string>

#include "metrics/job/job.h"

namespace tandem::metrics {

// The text format's media type.
inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

// Metrics of the job have the label `run`, those of a rank `run`, `host` and `rank`, its counters `pid`, too. Ranks
// that left are not in it.
std::string exposition(const Job& job);

}  // namespace tandem::metrics
