// Counts of numbers in TensorBoard's buckets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem {

// Of the finite ones among the numbers given. Limit i is the upper end of bucket i, which it does not belong to; the
// first bucket is empty and has the lower end of the next one as its limit. Source:
// torch.utils.tensorboard.summary.make_histogram.
struct Histogram {
  std::int64_t count = 0;
  double min = 0, max = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits;
  std::vector<double> counts;
};

Histogram make_histogram(std::span<const double> numbers);

}  // namespace tandem
