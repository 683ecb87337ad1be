#include "ddp/bucket_advisor.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tandem {
namespace {

constexpr int kTrialWarmUp = 2;  // iterations after a change: buckets are touched, and made once more
// Than the best: after the first round, in which noise is most of a difference, and at last.
constexpr double kSlowerAtFirst = 0.15, kSlowerAtLast = 0.03;

double median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  return (static_cast<double>(*middle) + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

}  // namespace

BucketAdvisor::BucketAdvisor(std::vector<Layout> layouts, const BucketTrialOptions& options, Mean mean)
    : layouts_(std::move(layouts)),
      iterations_(options.iterations),
      rounds_(options.rounds),
      mean_(std::move(mean)),
      samples_(layouts_.size()),
      steps_(layouts_.size()),
      turns_(layouts_.size()) {
  std::iota(turns_.begin(), turns_.end(), std::size_t{0});
  done_ = layouts_.size() == 1;
}

const BucketAdvisor::Layout* BucketAdvisor::after(std::int64_t nanoseconds) {
  if (done_) return nullptr;
  if (used_++ < kTrialWarmUp) return nullptr;
  samples_[current_].push_back(nanoseconds);
  if (used_ < kTrialWarmUp + iterations_) return nullptr;
  used_ = 0;
  const std::size_t before = current_;
  if (++turn_ == turns_.size()) end_round();
  current_ = turns_[turn_];
  return current_ == before ? nullptr : &layouts_[current_];
}

void BucketAdvisor::end_round() {
  std::vector<double> medians;
  for (const std::size_t layout : turns_) medians.push_back(median(samples_[layout]));
  const std::vector<double> means = mean_(std::move(medians));
  for (std::size_t i = 0; i < turns_.size(); ++i) steps_[turns_[i]] = means[i];
  const auto quicker = [this](std::size_t a, std::size_t b) { return steps_[a] < steps_[b]; };
  const std::size_t best = *std::min_element(turns_.begin(), turns_.end(), quicker);
  const double clearly = 1 + std::max(kSlowerAtLast, kSlowerAtFirst / ++round_);
  std::erase_if(turns_, [&](std::size_t layout) { return steps_[layout] > clearly * steps_[best]; });
  // The other way round, so that what grows slower all the time is nobody's.
  std::reverse(turns_.begin(), turns_.end());
  turn_ = 0;
  done_ = round_ == rounds_ || turns_.size() == 1;
  if (done_) turns_ = {best};
}

std::vector<BucketTrial> BucketAdvisor::trials() const {
  std::vector<BucketTrial> all;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    all.push_back({layouts_[i].size_mb, static_cast<std::int64_t>(layouts_[i].buckets.size()),
                   static_cast<std::int64_t>(steps_[i])});
  }
  return all;
}

}  // namespace tandem
