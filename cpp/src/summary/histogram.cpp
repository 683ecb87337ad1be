#include "summary/histogram.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tandem {
namespace {

// In steps of a tenth from 1e-12 to 1e20, on both sides of zero.
const std::vector<double>& edges() {
  static const std::vector<double> all = [] {
    std::vector<double> positive;
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1) positive.push_back(edge);
    std::vector<double> both;
    std::transform(positive.rbegin(), positive.rend(), std::back_inserter(both), [](double edge) { return -edge; });
    both.push_back(0);
    both.insert(both.end(), positive.begin(), positive.end());
    return both;
  }();
  return all;
}

}  // namespace

Histogram make_histogram(std::span<const double> numbers) {
  const std::vector<double>& edge = edges();
  std::vector<double> counts(edge.size() - 1);
  Histogram histogram;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    histogram.min = histogram.count == 0 ? number : std::min(histogram.min, number);
    histogram.max = histogram.count == 0 ? number : std::max(histogram.max, number);
    histogram.count += 1;
    histogram.sum += number;
    histogram.sum_squares += number * number;
    if (number < edge.front() || number > edge.back()) continue;  // beyond all buckets
    const auto above = std::upper_bound(edge.begin(), edge.end(), number);
    const auto bucket = std::min<std::size_t>(static_cast<std::size_t>(above - edge.begin()) - 1, counts.size() - 1);
    counts[bucket] += 1;
  }
  const auto used = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), used);
  if (first == counts.end()) return histogram;
  const auto last = std::find_if(counts.rbegin(), counts.rend(), used).base();
  const auto begin = first - counts.begin(), end = last - counts.begin();
  histogram.counts.push_back(0);
  histogram.counts.insert(histogram.counts.end(), first, last);
  histogram.limits.assign(edge.begin() + begin, edge.begin() + end + 1);
  return histogram;
}

}  // namespace tandem
