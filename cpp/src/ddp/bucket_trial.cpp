#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ddp/bucket_advisor.h"
#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {
namespace {

std::vector<double> mean_over_ranks(ProcessGroup& group, const std::vector<double>& mine) {
  at::Tensor sums = at::tensor(at::ArrayRef<double>(mine), at::kDouble);
  group.all_reduce(sums);
  sums /= group.size();
  const double* means = sums.const_data_ptr<double>();
  return {means, means + sums.numel()};
}

}  // namespace

void DataParallelReducer::Parts::start_trial() {
  // That of gradients, for buckets were rebuilt.
  std::vector<std::int64_t> order;
  for (const auto& bucket : bucket_layout()) order.insert(order.end(), bucket.begin(), bucket.end());
  std::vector<at::Tensor> ordered;
  for (const std::int64_t number : order) ordered.push_back(trained[static_cast<std::size_t>(number)]);
  std::vector<BucketAdvisor::Layout> layouts;
  for (const double size : trial_options->sizes_mb) {
    BucketAdvisor::Layout layout;
    layout.size_mb = size;
    set_bucket_bytes(options, size, &layout.bytes, &layout.first_bytes);
    const std::vector<std::size_t> limits = {static_cast<std::size_t>(layout.first_bytes),
                                             static_cast<std::size_t>(layout.bytes)};
    layout.buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(ordered, limits, sparse_gradients, order));
    const bool is_new = std::none_of(layouts.begin(), layouts.end(),
                                     [&](const auto& other) { return other.buckets == layout.buckets; });
    if (is_new) layouts.push_back(std::move(layout));
  }
  advisor = std::make_unique<BucketAdvisor>(
      std::move(layouts), *trial_options,
      [group = group](std::vector<double> mine) { return mean_over_ranks(*group, mine); });
  use_layout(advisor->first());
  if (advisor->done()) end_trial();
}

void DataParallelReducer::Parts::end_trial() {
  trial_options.reset();
  timer->suspend_separate(false);
  timer->forget();
}

void DataParallelReducer::Parts::use_layout(const BucketAdvisor::Layout& layout) {
  options.bucket_cap_mb = layout.size_mb;
  arguments->buckets = layout.buckets;
  arguments->bucket_bytes = layout.bytes;
  arguments->first_bucket_bytes = layout.first_bytes;
  make_reducer_anew();
}

void DataParallelReducer::Parts::advance_trial() {
  if (!advisor) {
    // The first iteration tells the order of gradients.
    if (timer->last().number > 0 && !reducer->should_rebuild_buckets()) start_trial();
    trial_counted = timer->last().number;
    return;
  }
  const StepTimer::Last last = timer->last();
  if (last.number == trial_counted) return;  // a forward that no backward followed
  trial_counted = last.number;
  if (const auto* layout = advisor->after(last.total)) use_layout(*layout);
  if (advisor->done()) end_trial();
}

void DataParallelReducer::try_bucket_sizes(const BucketTrialOptions& options) {
  Parts& parts = *parts_;
  const auto refuse = [](const std::string& why, ErrorCode code = ErrorCode::kInvalidArgument) {
    throw Error(code, "try_bucket_sizes: " + why);
  };
  if (options.sizes_mb.empty()) refuse("there is no size to try");
  for (const double size : options.sizes_mb) {
    if (!(size >= 0 && size <= 1e9)) refuse("a size is " + std::to_string(size) + " MiB; it must be 0 or more");
  }
  if (options.iterations < 1 || options.rounds < 1) {
    refuse("iterations are " + std::to_string(options.iterations) + " and rounds " + std::to_string(options.rounds) +
           "; both must be 1 or more");
  }
  if (!parts.timer) refuse("steps are timed on CPUs only; on a GPU set bucket_cap_mb", ErrorCode::kUnsupported);
  if (parts.has_hook) {
    refuse("a communication hook keeps what belongs to a bucket, so buckets cannot change; set bucket_cap_mb",
           ErrorCode::kUnsupported);
  }
  if (parts.joins) refuse("a join has begun, in which ranks make different numbers of steps; try sizes before it");
  if (parts.trial_options) refuse("sizes are being tried already");
  parts.trial_options = options;
  parts.advisor.reset();
  parts.timer->suspend_separate(true);
}

BucketAdvice DataParallelReducer::bucket_advice() const {
  const Parts& parts = *parts_;
  BucketAdvice advice;
  advice.bucket_cap_mb = parts.options.bucket_cap_mb;
  if (!parts.advisor) return advice;
  advice.done = parts.advisor->done();
  advice.trials = parts.advisor->trials();
  return advice;
}

}  // namespace tandem
