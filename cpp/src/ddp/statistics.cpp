#include "ddp/parts.h"
#include "tandem/error.h"

namespace tandem {

DataParallelStatistics DataParallelReducer::statistics() const {
  const Parts& parts = *parts_;
  const auto data = parts.logger->get_ddp_logging_data();
  const auto number = [&](const char* name) {
    const auto found = data.ints_map.find(name);
    return found == data.ints_map.end() ? 0 : found->second;
  };
  DataParallelStatistics statistics;
  statistics.iterations = parts.iterations;
  statistics.buckets_rebuilt = parts.rebuilt;
  statistics.forward_compute = number("avg_forward_compute_time");
  statistics.backward_compute = number("avg_backward_compute_time");
  statistics.backward_communication = number("avg_backward_comm_time");
  statistics.overlap = number("avg_backward_compute_comm_overlap_time");
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
  return statistics;
}

void DataParallelReducer::set_statistics_sample_rate(int iterations) {
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "statistics cannot be taken every " + std::to_string(iterations) + " iterations; give 1 or more");
  }
  parts_->reducer->set_ddp_runtime_logging_sample_rate(iterations);
}

}  // namespace tandem
