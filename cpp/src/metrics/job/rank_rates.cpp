#include "metrics/job/rank_rates.h"

#include <algorithm>

namespace tandem::metrics {
namespace {

constexpr std::int64_t kWindow = 10000000000;  // ns
constexpr std::int64_t kMoment = 2000000000;

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

void RankRates::look(const Measured& measured, std::int64_t now) {
  if (measured.reported_at == 0) return;
  if (!reports_.empty()) {
    const Measured& last = reports_.back();
    if (measured.step < last.step || measured.samples < last.samples || measured.reported_at < last.reported_at)
      reports_.clear();
  }
  if (reports_.empty() || measured.reported_at > reports_.back().reported_at) reports_.push_back(measured);
  while (reports_.size() > 2 && now - reports_[1].reported_at >= kWindow) reports_.pop_front();
  if (reports_.size() < 2) return;
  const Measured &first = reports_.front(), &last = reports_.back();
  // A rank that reports no longer gets slower by the second, once a report is overdue.
  std::int64_t passed = last.reported_at - first.reported_at;
  const std::int64_t usual = passed / static_cast<std::int64_t>(reports_.size() - 1);
  if (now - last.reported_at > std::max(2 * usual, kMoment)) passed = now - first.reported_at;
  if (passed <= 0) return;
  if (first.step >= 0) steps_ = static_cast<double>(last.step - first.step) / seconds(passed);
  if (first.samples >= 0) samples_ = static_cast<double>(last.samples - first.samples) / seconds(passed);
  if (first.wait_seconds && last.wait_seconds) {
    wait_ = std::clamp((*last.wait_seconds - *first.wait_seconds) / seconds(passed), 0.0, 1.0);
  }
}

}  // namespace tandem::metrics
