#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/invalid.h"
#include "tandem/pipeline_balance.h"

namespace tandem {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of the first i layers in s stages: cost[s][i], by `join` of the stages before with the time of one more, and begin[s][i],
// where that one begins.
struct Cuts {
  std::vector<std::vector<double>> cost;
  std::vector<std::vector<std::size_t>> begin;
};

template <typename Join>
Cuts cuts_of(const std::vector<double>& sums, int stages, const Join& join) {
  const std::size_t layers = sums.size() - 1;
  Cuts cuts{std::vector(stages + 1, std::vector<double>(layers + 1, kNever)),
            std::vector(stages + 1, std::vector<std::size_t>(layers + 1, 0))};
  cuts.cost[0][0] = 0;
  for (int stage = 1; stage <= stages; ++stage) {
    for (std::size_t end = stage; end <= layers; ++end) {
      for (std::size_t begin = stage - 1; begin < end; ++begin) {
        const double cost = join(cuts.cost[stage - 1][begin], sums[end] - sums[begin]);
        if (cost >= cuts.cost[stage][end]) continue;
        cuts.cost[stage][end] = cost;
        cuts.begin[stage][end] = begin;
      }
    }
  }
  return cuts;
}

}  // namespace

std::vector<std::size_t> balance_stages(const std::vector<double>& times, int stages) {
  if (stages < 1 || times.size() < static_cast<std::size_t>(stages)) {
    invalid("a model of " + std::to_string(times.size()) + " layers does not divide into " + std::to_string(stages) +
            " stages; give 1 stage or more, and no more than layers");
  }
  double longest = 0;
  for (const double time : times) {
    if (!std::isfinite(time) || time < 0) invalid("a layer takes " + std::to_string(time) + "; give times of 0 or more");
    longest = std::max(longest, time);
  }
  // In units near the longest: sums and squares of any times stay finite. A power of two, by which nothing is rounded.
  const int exponent = std::ilogb(std::max(longest, std::numeric_limits<double>::min()));
  std::vector<double> sums = {0};
  for (const double time : times) sums.push_back(sums.back() + std::scalbn(time, -exponent));
  const std::size_t layers = times.size();
  const double slowest =
      cuts_of(sums, stages, [](double before, double time) { return std::max(before, time); }).cost[stages][layers];
  // Within that bound the sum of squares is least where stages are most even.
  const auto square = [slowest](double before, double time) { return time > slowest ? kNever : before + time * time; };
  const Cuts cuts = cuts_of(sums, stages, square);
  std::vector<std::size_t> first(stages);
  std::size_t end = layers;
  for (int stage = stages; stage > 0; --stage) {
    first[stage - 1] = end = cuts.begin[stage][end];
  }
  return first;
}

}  // namespace tandem
