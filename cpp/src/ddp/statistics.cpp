#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using Iterations = std::vector<DataParallelIteration>;

// In the first, memory is touched and libraries start; after it buckets are made anew.
constexpr std::int64_t kWarmUpIterations = 2;

// Those that count.
Iterations counted(const Iterations& all, bool separate) {
  Iterations some, warm;
  for (const DataParallelIteration& one : all) {
    if (one.separate != separate) continue;
    some.push_back(one);
    if (one.number >= kWarmUpIterations) warm.push_back(one);
  }
  return warm.empty() ? some : warm;
}

// The mean of the middle half: what disturbs one iteration of many does not count.
template <typename Value>
std::int64_t usual(const Iterations& iterations, Value&& value) {
  if (iterations.empty()) return 0;
  std::vector<std::int64_t> values;
  for (const DataParallelIteration& one : iterations) values.push_back(value(one));
  std::sort(values.begin(), values.end());
  const auto left_out = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto begin = values.begin() + left_out, end = values.end() - left_out;
  return std::accumulate(begin, end, std::int64_t{0}) / (end - begin);
}

// From the first bucket's start to the last one's end.
std::int64_t communication_span(const DataParallelIteration& one) {
  if (one.buckets.empty()) return 0;
  std::int64_t end = 0;
  for (const BucketTimes& bucket : one.buckets) end = std::max(end, bucket.done);
  return end - one.buckets.front().begun;
}

// How much of that backward computed.
std::int64_t overlap(const DataParallelIteration& one) {
  if (one.buckets.empty()) return 0;
  const std::int64_t computed = one.backward_begun + one.backward, begun = one.buckets.front().begun;
  return std::clamp<std::int64_t>(computed - begun, 0, communication_span(one));
}

std::int64_t summed(const DataParallelIteration& one) {
  std::int64_t sum = 0;
  for (const BucketTimes& bucket : one.buckets) sum += bucket.done - bucket.begun;
  return sum;
}

void summarize(const Iterations& all, DataParallelStatistics* out) {
  using One = const DataParallelIteration&;
  const Iterations overlapped = counted(all, false), separate = counted(all, true);
  const Iterations& computed = overlapped.empty() ? separate : overlapped;
  out->forward_compute = usual(computed, [](One one) { return one.forward; });
  out->backward_compute = usual(computed, [](One one) { return one.backward; });
  out->backward_communication = usual(overlapped, communication_span);
  out->overlap = usual(overlapped, overlap);
  out->step = usual(overlapped, [](One one) { return one.total; });
  out->communication = usual(overlapped, [](One one) { return one.communication; });
  out->exposed_communication = usual(overlapped, [](One one) { return one.forward_exchange + one.wait; });
  if (separate.empty()) return;
  out->step_without_exchange = usual(separate, [](One one) { return one.total - one.wait - one.forward_exchange; });
  out->communication_alone = usual(separate, summed);
  if (!overlapped.empty()) {
    out->exposed_communication = std::max<std::int64_t>(0, out->step - out->step_without_exchange);
  }
}

// Of iterations that had the buckets that there are now.
void summarize_buckets(const Iterations& all, DataParallelStatistics* out) {
  using One = const DataParallelIteration&;
  const std::size_t buckets = out->bucket_bytes.size();
  const auto of_these = [&](bool separate) {
    Iterations some = counted(all, separate);
    std::erase_if(some, [&](One one) { return one.buckets.size() != buckets; });
    return some;
  };
  const Iterations overlapped = of_these(false), separate = of_these(true);
  for (std::size_t i = 0; i < buckets; ++i) {
    if (!overlapped.empty()) {
      out->bucket_times.push_back({out->bucket_bytes[i],
                                   usual(overlapped, [i](One one) { return one.buckets[i].begun; }),
                                   usual(overlapped, [i](One one) { return one.buckets[i].done; })});
    }
    if (!separate.empty()) {
      out->buckets_alone.push_back(
          usual(separate, [i](One one) { return one.buckets[i].done - one.buckets[i].begun; }));
    }
  }
}

}  // namespace

DataParallelStatistics DataParallelReducer::statistics() const {
  const Parts& parts = *parts_;
  DataParallelStatistics statistics;
  statistics.iterations = parts.iterations;
  statistics.buckets_rebuilt = parts.rebuilt;
  for (const c10d::GradBucket& bucket : parts.buckets()) {
    std::int64_t bytes = 0;
    std::vector<std::string> names;
    for (const at::Tensor& parameter : bucket.getParameters()) {
      bytes += static_cast<std::int64_t>(parameter.nbytes());
      for (std::size_t i = 0; i < parts.trained.size(); ++i) {
        if (parts.trained[i].is_same(parameter)) names.push_back(parts.trained_names[i]);
      }
    }
    statistics.bucket_bytes.push_back(bytes);
    statistics.bucket_parameters.push_back(std::move(names));
  }
  if (parts.timer) {
    const Iterations all = parts.timer->iterations();
    summarize(all, &statistics);
    summarize_buckets(all, &statistics);
    return statistics;
  }
  const auto data = parts.logger->get_ddp_logging_data();
  const auto number = [&](const char* name) {
    const auto found = data.ints_map.find(name);
    return found == data.ints_map.end() ? 0 : found->second;
  };
  statistics.forward_compute = number("avg_forward_compute_time");
  statistics.backward_compute = number("avg_backward_compute_time");
  statistics.backward_communication = number("avg_backward_comm_time");
  statistics.overlap = number("avg_backward_compute_comm_overlap_time");
  return statistics;
}

std::vector<DataParallelIteration> DataParallelReducer::iterations() const {
  return parts_->timer ? parts_->timer->iterations() : std::vector<DataParallelIteration>();
}

void DataParallelReducer::set_statistics_sample_rate(int iterations) {
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "statistics cannot be taken every " + std::to_string(iterations) + " iterations; give 1 or more");
  }
  parts_->statistics_rate = iterations;
  parts_->reducer->set_ddp_runtime_logging_sample_rate(iterations);
  if (parts_->timer) parts_->timer->set_rate(iterations);
}

void DataParallelReducer::set_separate_exchanges(std::int64_t every) {
  if (every < 0) {
    throw Error(ErrorCode::kInvalidArgument, "exchanges cannot be separate every " + std::to_string(every) +
                                                 " iterations; give 1 or more, or 0 for never");
  }
  if (!parts_->timer) {
    throw Error(ErrorCode::kUnsupported,
                "separate exchanges are timed on CPUs only; on a GPU, whose work is queued, use the profiler");
  }
  parts_->timer->set_separate(every);
}

}  // namespace tandem
