#include "ddp/step_timer.h"

#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "metrics/reporter.h"
#include "trace/recorder.h"

namespace tandem {
namespace {

std::int64_t nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void when_backward_ends(std::function<void()> callback) {
  torch::autograd::Engine::get_default_engine().queue_callback(std::move(callback));
}

// How long at least one bucket was under way.
std::int64_t covered(std::vector<BucketTimes> buckets) {
  std::sort(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) { return a.begun < b.begun; });
  std::int64_t sum = 0, end = 0;
  for (const BucketTimes& bucket : buckets) {
    sum += std::max<std::int64_t>(0, bucket.done - std::max(bucket.begun, end));
    end = std::max(end, bucket.done);
  }
  return sum;
}

std::atomic<int> tracks{0};

}  // namespace

StepTimer::StepTimer(std::function<void()> together) : together_(std::move(together)), track_(++tracks) {}

void StepTimer::begin_forward(bool continues) {
  const auto now = Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!continues || !open_ || open_->in_backward) {
    // One that is open had no backward, or a backward that failed.
    open_.emplace();
    open_->begun = now;
    ++opened_;
    holds_ = false;
    held_.clear();
  }
  open_->forward_begun = now;
}

void StepTimer::forward_exchanged() {
  const auto now = Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_) return;
  open_->noted.forward_exchange += nanoseconds(now - open_->forward_begun);
  open_->spans.push_back({"forward's exchange", open_->forward_begun, now});
  open_->forward_begun = now;
}

void StepTimer::end_forward() {
  const auto now = Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_) return;
  open_->noted.forward += nanoseconds(now - open_->forward_begun);
  open_->spans.push_back({"forward", open_->forward_begun, now});
}

void StepTimer::begin_backward() {
  {
    const auto now = Clock::now();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!open_ || open_->in_backward) return;
    open_->in_backward = true;
    open_->backward_begun = now;
    open_->noted.number = number_;
    open_->noted.separate = separate_every_ > 0 && !suspended_ && (number_ + 1) % separate_every_ == 0;
    holds_ = open_->noted.separate;
  }
  when_backward_ends([self = shared_from_this()] {
    self->end_compute();
    // The reducer's own callback waits for the buckets. In the first backward of a static graph it is queued only by
    // the one that now comes next.
    when_backward_ends([self] { when_backward_ends([self] { self->end_step(); }); });
  });
}

void StepTimer::end_compute() {
  std::vector<std::function<void()>> held;
  bool separate = false;
  {
    const auto now = Clock::now();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!open_) return;
    open_->computed = now;
    separate = std::exchange(holds_, false);
    held.swap(held_);
  }
  if (!separate) return;
  together_();  // a bucket's time is not to include that another rank still computes
  for (const auto& exchange : held) exchange();
}

void StepTimer::end_step() {
  const auto now = Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_) return;
  DataParallelIteration& noted = open_->noted;
  noted.begun = nanoseconds(open_->begun.time_since_epoch());
  noted.backward_begun = nanoseconds(open_->backward_begun - open_->begun);
  noted.backward = nanoseconds(open_->computed - open_->backward_begun);
  noted.wait = nanoseconds(now - open_->computed);
  noted.total = nanoseconds(now - open_->begun);
  noted.communication = covered(noted.buckets);
  metrics::Reporter::of_process().add_wait(noted.wait + noted.forward_exchange);
  if (TraceRecorder::instance().on()) trace(now);
  last_total_ = noted.total;
  if (number_++ % rate_ == 0 || noted.separate) {
    kept_.push_back(std::move(noted));
    if (kept_.size() > kKept) kept_.pop_front();
  }
  open_.reset();
}

void StepTimer::trace(Clock::time_point ended) const {
  TraceRecorder& recorder = TraceRecorder::instance();
  const std::string track = "DistributedDataParallel" + (track_ == 1 ? std::string() : " " + std::to_string(track_));
  const std::string number = std::to_string(open_->noted.number);
  const std::string arguments = "\"iteration\": " + number;
  recorder.span(track_, track, open_->noted.separate ? "step, separate" : "step", open_->begun, ended, arguments);
  for (const Span& span : open_->spans) recorder.span(track_, track, span.name, span.begun, span.ended, arguments);
  recorder.span(track_, track, "backward", open_->backward_begun, open_->computed, arguments);
  recorder.span(track_, track, "wait for communication", open_->computed, ended, arguments);
  std::size_t index = 0;
  for (const BucketTimes& bucket : open_->noted.buckets) {
    recorder.exchange("bucket", "bucket " + std::to_string(index++),
                      open_->begun + std::chrono::nanoseconds(bucket.begun),
                      open_->begun + std::chrono::nanoseconds(bucket.done),
                      arguments + ", \"bytes\": " + std::to_string(bucket.bytes));
  }
}

void StepTimer::count_shadow() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++number_;
}

StepTimer::Ticket StepTimer::begin_exchange(std::int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_ || !open_->in_backward) return std::nullopt;
  const std::int64_t now = nanoseconds(Clock::now() - open_->begun);
  open_->noted.buckets.push_back({bytes, now, now});
  return std::pair(opened_, open_->noted.buckets.size() - 1);
}

void StepTimer::end_exchange(const Ticket& ticket) {
  if (!ticket) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!open_ || ticket->first != opened_) return;
  open_->noted.buckets[ticket->second].done = nanoseconds(Clock::now() - open_->begun);
}

std::uint64_t StepTimer::iteration() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return opened_;
}

bool StepTimer::holds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return holds_;
}

void StepTimer::hold(std::function<void()> exchange) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_.push_back(std::move(exchange));
}

void StepTimer::set_rate(int rate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rate_ = rate;
}

void StepTimer::set_separate(std::int64_t every) {
  const std::lock_guard<std::mutex> lock(mutex_);
  separate_every_ = every;
}

void StepTimer::suspend_separate(bool on) {
  const std::lock_guard<std::mutex> lock(mutex_);
  suspended_ = on;
}

void StepTimer::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_.clear();
}

StepTimer::Last StepTimer::last() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {number_, last_total_};
}

std::vector<DataParallelIteration> StepTimer::iterations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {kept_.begin(), kept_.end()};
}

}  // namespace tandem
