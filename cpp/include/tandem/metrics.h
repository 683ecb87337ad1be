// What a rank measures while it trains, for the launcher that started it: its progress line, `tandem top`, Prometheus
// and TensorBoard (docs/metrics.md).
//
//   tandem::report_metrics({.samples = batch.size(0), .loss = loss.item<double>()});      // after each step
#pragma once

#include <cstdint>
#include <optional>

#include "tandem/export.h"

namespace tandem {

struct StepMetrics {
  // Completed so far. 0: one more than at the call before; of a training that counts its steps (tandem/elastic.h): as many
  // as that says.
  std::int64_t step = 0;
  std::int64_t epoch = 0;      // over the data, from 1; 0: as before
  std::int64_t samples = 0;    // that this rank trained since the call before
  std::optional<double> loss = {};  // unset: as before
  // For which this rank waited for others since the call before, beside what DistributedDataParallel counts on CPUs.
  double wait_seconds = 0;
};

// Once a step, or less often. Takes some ten nanoseconds: what is reported lies in memory that the launcher reads, once a
// second, so a launcher that is stopped or slow holds up nobody. Does nothing where no `tandem run` of this machine
// started the process. Thread-safe. Errors: kInvalidArgument.
TANDEM_API void report_metrics(const StepMetrics& metrics);

}  // namespace tandem
