// Schedulers that follow a cosine (Loshchilov and Hutter, 2016), without restarts and with them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

class CosineAnnealingLr : public EpochScheduler {
 public:
  CosineAnnealingLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("CosineAnnealingLR", std::move(optimizer), last_epoch_of(options)),
        t_max_(options.need_count("T_max")) {
    options.read("eta_min", eta_min_).finish();
    if (t_max_ > kMostEpochs) options.refuse("T_max", "must be at most " + std::to_string(kMostEpochs));
  }

  void fields(Fields& fields) override {
    fields.count("T_max", t_max_);
    fields("eta_min", eta_min_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    if (is_initial_) return lrs();
    if (step_count_ == 1 && last_epoch_ > 0) return from_base();
    std::vector<double> all = lrs();
    const bool turns = (last_epoch_ - 1 - t_max_) % (2 * t_max_) == 0;  // where the factor below divides by 0
    for (std::size_t i = 0; i < all.size() && i < base_lrs_.size(); ++i) {
      all[i] = turns ? all[i] + (base_lrs_[i] - eta_min_) * (1 - std::cos(std::numbers::pi / t_max())) / 2
                     : (1 + cosine(last_epoch_)) / (1 + cosine(last_epoch_ - 1)) * (all[i] - eta_min_) + eta_min_;
    }
    return all;
  }
  std::optional<std::vector<double>> closed_form() override { return from_base(); }

 private:
  double t_max() const { return static_cast<double>(t_max_); }
  double cosine(std::int64_t epoch) const { return std::cos(std::numbers::pi * static_cast<double>(epoch) / t_max()); }
  std::vector<double> from_base() const {
    std::vector<double> all = base_lrs_;
    for (double& one : all) one = eta_min_ + (one - eta_min_) * (1 + cosine(last_epoch_)) / 2;
    return all;
  }

  std::int64_t t_max_;
  double eta_min_ = 0;
};

class CosineAnnealingWarmRestarts : public EpochScheduler {
 public:
  CosineAnnealingWarmRestarts(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("CosineAnnealingWarmRestarts", std::move(optimizer), last_epoch_of(options)),
        t_0_(options.need_count("T_0")),
        t_i_(t_0_),
        t_cur_(static_cast<double>(last_epoch_)) {
    options.read("T_mult", t_mult_).read("eta_min", eta_min_).finish();
    if (t_mult_ < 1) options.refuse("T_mult", "must be at least 1, not " + std::to_string(t_mult_));
  }

  using EpochScheduler::step;
  void step() override {
    if (last_epoch_ < 0) return step_to(0);
    ++last_epoch_;
    t_cur_ += 1;
    if (t_cur_ >= static_cast<double>(t_i_)) {
      t_cur_ = std::fmod(t_cur_, static_cast<double>(t_i_));
      t_i_ = whole(static_cast<double>(t_i_) * static_cast<double>(t_mult_));
    }
    apply(rates());
  }

  void step_to(double epoch) override {
    if (!(epoch >= 0 && epoch <= kLongest))
      refuse("::step_to is given " + std::to_string(epoch) + ", which is no epoch");
    const auto t_0 = static_cast<double>(t_0_), t_mult = static_cast<double>(t_mult_);
    if (epoch < t_0) {
      t_i_ = t_0_;
      t_cur_ = epoch;
    } else if (t_mult_ == 1) {
      t_cur_ = std::fmod(epoch, t_0);
    } else {
      // As Python's math.log(x, base).
      const double restarts = std::trunc(std::log(epoch / t_0 * (t_mult - 1) + 1) / std::log(t_mult));
      t_cur_ = epoch - t_0 * (std::pow(t_mult, restarts) - 1) / (t_mult - 1);
      t_i_ = whole(t_0 * std::pow(t_mult, restarts));
    }
    last_epoch_ = static_cast<std::int64_t>(std::floor(epoch));
    apply(rates());
  }

  void fields(Fields& fields) override {
    fields.count("T_0", t_0_);
    fields.count("T_i", t_i_);
    fields.count("T_mult", t_mult_);
    fields("eta_min", eta_min_);
    fields("T_cur", t_cur_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    std::vector<double> all = base_lrs_;
    const double cosine = std::cos(std::numbers::pi * t_cur_ / static_cast<double>(t_i_));
    for (double& one : all) one = eta_min_ + (one - eta_min_) * (1 + cosine) / 2;
    return all;
  }

 private:
  static constexpr double kLongest = kMostEpochs;  // no cycle is longer
  static std::int64_t whole(double steps) { return static_cast<std::int64_t>(std::min(steps, kLongest)); }

  std::int64_t t_0_, t_i_, t_mult_ = 1;
  double t_cur_, eta_min_ = 0;
};

}  // namespace

std::shared_ptr<LrScheduler> make_cosine_annealing_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<CosineAnnealingLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_cosine_annealing_warm_restarts(std::shared_ptr<Optimizer> optimizer,
                                                                 Options& options) {
  return begun<CosineAnnealingWarmRestarts>(std::move(optimizer), options);
}

}  // namespace tandem::optim
