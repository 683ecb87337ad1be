// How fast a rank is, by what it has reported.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "metrics/page.h"

namespace tandem::metrics {

// Over the last seconds, or the last two reports where these are farther apart. What goes back, as a step after a
// failure, begins anew.
class RankRates {
 public:
  // What the rank has measured by now; `now` in ns, as Measured::reported_at is.
  void look(const Measured& measured, std::int64_t now);

  const std::optional<double>& steps_per_second() const { return steps_; }
  const std::optional<double>& samples_per_second() const { return samples_; }
  const std::optional<double>& wait_share() const { return wait_; }  // of the time, from 0 to 1

 private:
  std::deque<Measured> reports_;
  std::optional<double> steps_, samples_, wait_;
};

}  // namespace tandem::metrics
