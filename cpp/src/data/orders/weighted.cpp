#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/invalid.h"
#include "data/orders/epoch_list.h"
#include "data/orders/order_hash.h"
#include "tandem/error.h"
#include "tandem/samplers.h"

namespace tandem {
namespace {

void check(const std::vector<double>& weights, std::int64_t positions) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i])) {
      invalid("the weight of sample " + std::to_string(i) + " is " + std::to_string(weights[i]) +
              ", but must be a number that is not negative");
    }
    sum += weights[i];
  }
  if (!(sum > 0)) invalid("no sample has a weight above 0");
  if (!std::isfinite(sum)) invalid("the weights are too large to be added up; divide them all by some number");
  if (positions < 0) invalid("an epoch cannot have " + std::to_string(positions) + " positions");
}

// Uniform in [0, 1), of the 53 bits that a double holds.
double uniform(std::uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

class WithReplacement : public SampleOrder {
 public:
  WithReplacement(std::vector<double> weights, std::int64_t positions)
      : name_("weighted " + order_hash(weights)), positions_(positions), sums_(std::move(weights)) {
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
    last_ = std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin();
  }
  std::int64_t size() const override { return positions_; }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    for (std::int64_t& sample : out) {
      const double drawn = uniform(sample_randomness(seed, epoch, first++)) * sums_.back();
      sample = std::min<std::int64_t>(std::upper_bound(sums_.begin(), sums_.end(), drawn) - sums_.begin(), last_);
    }
  }

 private:
  std::string name_;
  std::int64_t positions_;
  std::vector<double> sums_;  // of the weights up to each sample
  std::int64_t last_ = 0;     // sample of a weight above 0, which a product that was rounded up stands for
};

// Each sample comes at a time that is exponentially distributed, at a rate of its weight; the first ones are drawn.
// Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006.
class WithoutReplacement : public SampleOrder {
 public:
  WithoutReplacement(std::vector<double> weights, std::int64_t positions)
      : name_("weighted once " + order_hash(weights)), positions_(positions), weights_(std::move(weights)) {}
  std::int64_t size() const override { return positions_; }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    const auto order = epochs_.get(seed, epoch, [&] { return draw(seed, epoch); });
    std::copy_n(order->begin() + first, out.size(), out.begin());
  }

 private:
  std::vector<std::int64_t> draw(std::uint64_t seed, std::int64_t epoch) const {
    std::vector<std::pair<double, std::int64_t>> times;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      const auto sample = static_cast<std::int64_t>(i);
      times.emplace_back(-std::log1p(-uniform(sample_randomness(seed, epoch, sample))) / weights_[i], sample);
    }
    const auto end = times.begin() + positions_;
    std::partial_sort(times.begin(), end, times.end());
    std::vector<std::int64_t> drawn;
    drawn.reserve(static_cast<std::size_t>(positions_));
    for (auto it = times.begin(); it != end; ++it) drawn.push_back(it->second);
    return drawn;
  }

  std::string name_;
  std::int64_t positions_;
  std::vector<double> weights_;
  EpochList epochs_;
};

}  // namespace

std::shared_ptr<const SampleOrder> weighted_order(std::vector<double> weights, std::int64_t positions) {
  check(weights, positions);
  return std::make_shared<WithReplacement>(std::move(weights), positions);
}

std::shared_ptr<const SampleOrder> weighted_order_without_replacement(std::vector<double> weights,
                                                                      std::int64_t positions) {
  check(weights, positions);
  const auto most = std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
  if (positions > most) {
    invalid("an epoch cannot have " + std::to_string(positions) + " different samples: " + std::to_string(most) +
            " have a weight above 0");
  }
  return std::make_shared<WithoutReplacement>(std::move(weights), positions);
}

}  // namespace tandem
