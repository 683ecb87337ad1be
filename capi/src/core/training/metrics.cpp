#include "tandem/metrics.h"

#include "core/call/guard.h"
#include "core/call/options.h"

using namespace tandem::capi;

tdm_error* tdm_metrics_report(const tdm_metrics_options* options) {
  return guard("tdm_metrics_report", [&] {
    const auto given = read_options<tdm_metrics_options>(options, TDM_METRICS_OPTIONS_INIT, "tdm_metrics_options");
    if (given.has_loss != 0 && given.has_loss != 1) invalid("has_loss is " + std::to_string(given.has_loss) + "; it is 0 or 1");
    tandem::report_metrics({.step = given.step,
                            .epoch = given.epoch,
                            .samples = given.samples,
                            .loss = given.has_loss ? std::optional(given.loss) : std::nullopt,
                            .wait_seconds = given.wait_seconds});
  });
}
