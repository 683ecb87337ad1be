// Iterations of a DataParallelReducer with a bucket for each parameter, and what must hold for what is said of one.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>

#include "cpp/ddp/gradients.h"

namespace tandem::testing {

inline const std::vector<std::vector<std::int64_t>> kShapes = {{40, 30}, {30}, {30, 20}, {20}, {7}};

inline std::int64_t bytes_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::int64_t sum = 0;
  for (const auto& shape : shapes) {
    sum += 8 * std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  return sum;
}

inline DataParallelOptions each_alone() {
  DataParallelOptions options;
  options.bucket_cap_mb = 0;
  return options;
}

// One step with gradients that tell rank and step apart.
inline std::vector<at::Tensor> step(DataParallelReducer& reducer, const std::vector<at::Tensor>& parameters, int rank,
                                    int number) {
  std::vector<at::Tensor> gradients;
  for (const auto& shape : kShapes) gradients.push_back(gradient(shape, rank, number));
  return exchange(reducer, parameters, gradients);
}

inline void expect_consistent(const DataParallelIteration& one) {
  EXPECT_GE(one.total, one.forward_exchange + one.forward + one.backward + one.wait);
  EXPECT_GE(one.backward_begun, one.forward_exchange + one.forward);
  EXPECT_EQ(one.total, one.backward_begun + one.backward + one.wait);
  std::int64_t bytes = 0, sum = 0, longest = 0, last = one.backward_begun;
  for (const BucketTimes& bucket : one.buckets) {
    EXPECT_GE(bucket.begun, last);
    EXPECT_GE(bucket.done, bucket.begun);
    EXPECT_LE(bucket.done, one.total);
    last = bucket.begun;
    bytes += bucket.bytes;
    sum += bucket.done - bucket.begun;
    longest = std::max(longest, bucket.done - bucket.begun);
  }
  EXPECT_EQ(bytes, bytes_of(kShapes));
  EXPECT_LE(one.communication, sum);
  EXPECT_GE(one.communication, longest);
}

}  // namespace tandem::testing
