#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/invalid.h"
#include "tandem/pipeline_balance.h"

namespace tandem {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// cost[s][i]: of the first i layers in s stages, by `join` of the stages before with the time of one more.
using Costs = std::vector<std::vector<double>>;

template <typename Join>
Costs costs_of(const std::vector<double>& sums, int stages, const Join& join) {
  const std::size_t layers = sums.size() - 1;
  Costs cost(stages + 1, std::vector<double>(layers + 1, kNever));
  cost[0][0] = 0;
  for (int stage = 1; stage <= stages; ++stage) {
    for (std::size_t end = stage; end <= layers; ++end) {
      for (std::size_t begin = stage - 1; begin < end; ++begin) {
        cost[stage][end] = std::min(cost[stage][end], join(cost[stage - 1][begin], sums[end] - sums[begin]));
      }
    }
  }
  return cost;
}

}  // namespace

std::vector<std::size_t> balance_stages(const std::vector<double>& times, int stages) {
  if (stages < 1 || times.size() < static_cast<std::size_t>(stages)) {
    invalid("a model of " + std::to_string(times.size()) + " layers does not divide into " + std::to_string(stages) +
            " stages; give 1 stage or more, and no more than layers");
  }
  std::vector<double> sums = {0};
  for (const double time : times) {
    if (!std::isfinite(time) || time < 0) invalid("a layer takes " + std::to_string(time) + "; give times of 0 or more");
    sums.push_back(sums.back() + time);
  }
  const std::size_t layers = times.size();
  const double slowest =
      costs_of(sums, stages, [](double before, double time) { return std::max(before, time); })[stages][layers];
  // Within that bound the sum of squares is least where stages are most even.
  const auto square = [slowest](double before, double time) { return time > slowest ? kNever : before + time * time; };
  const Costs cost = costs_of(sums, stages, square);
  std::vector<std::size_t> first(stages);
  std::size_t end = layers;
  for (int stage = stages; stage > 0; --stage) {
    std::size_t begin = stage - 1;
    while (square(cost[stage - 1][begin], sums[end] - sums[begin]) != cost[stage][end]) ++begin;
    first[stage - 1] = end = begin;
  }
  return first;
}

}  // namespace tandem
