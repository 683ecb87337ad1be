// What a rank measures while it trains, for the launcher that started it (docs/metrics.md).
#pragma once

#include <cstdint>
#include <optional>

#include "tandem/abi/error.hpp"

namespace tandem::abi {

struct StepMetrics {
  int64_t step = 0;     // completed so far; 0: one more than at the call before, or as many as Elastic::step() counts
  int64_t epoch = 0;    // over the data, from 1; 0: as before
  int64_t samples = 0;  // that this rank trained since the call before
  std::optional<double> loss = {};  // unset: as before
  double wait_seconds = 0;          // for other ranks since the call before, beside what DDP counts on CPUs
};

// Once a step, or less often. Waits for nobody; does nothing where no `tandem run` of this machine started the process.
inline void report_metrics(const StepMetrics& metrics) {
  tdm_metrics_options raw = TDM_METRICS_OPTIONS_INIT;
  raw.step = metrics.step;
  raw.epoch = metrics.epoch;
  raw.samples = metrics.samples;
  raw.has_loss = metrics.loss.has_value();
  raw.loss = metrics.loss.value_or(0);
  raw.wait_seconds = metrics.wait_seconds;
  check(tdm_metrics_report(&raw));
}

}  // namespace tandem::abi
