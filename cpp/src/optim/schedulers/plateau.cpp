#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

// Lowers the rate when a metric has not improved for some steps.
class ReduceLrOnPlateau : public Scheduler {
 public:
  ReduceLrOnPlateau(std::shared_ptr<Optimizer> optimizer, Options& options)
      : Scheduler("ReduceLROnPlateau", std::move(optimizer)) {
    std::vector<double> min_lr{0};
    options.read("mode", mode_).read("factor", factor_).read("patience", patience_).read("threshold", threshold_);
    options.read("threshold_mode", threshold_mode_).read("cooldown", cooldown_).read("min_lr", min_lr);
    options.read("eps", eps_).finish();
    if (!(factor_ < 1)) options.refuse("factor", "must be less than 1");
    check([&](const char* name, const std::string& why) { options.refuse(name, why); });
    if (min_lr.size() == 1) default_min_lr_ = min_lr[0];
    min_lrs_ = for_groups(options, "min_lr", min_lr);
    worst_ = best_ = (mode_ == "min" ? 1 : -1) * std::numeric_limits<double>::infinity();
    last_lr_ = lrs();
  }

  void step() override { throw Error(ErrorCode::kUnsupported, "ReduceLROnPlateau needs a metric; call step(metric)"); }

  void step(double metric) override {
    ++last_epoch_;
    const bool better = is_better(metric);
    if (better) best_ = metric;
    bad_epochs_ = better ? 0 : bad_epochs_ + 1;
    if (cooldown_counter_ > 0) {
      --cooldown_counter_;
      bad_epochs_ = 0;
    }
    if (bad_epochs_ > patience_) {
      reduce();
      cooldown_counter_ = cooldown_;
      bad_epochs_ = 0;
    }
    last_lr_ = lrs();
  }

  void fields(Fields& fields) override {
    fields("factor", factor_);
    fields("default_min_lr", default_min_lr_);
    fields.per_group("min_lrs", min_lrs_);
    fields("patience", patience_);
    fields("cooldown", cooldown_);
    fields("eps", eps_);
    fields("last_epoch", last_epoch_);
    fields.per_group("_last_lr", last_lr_);
    fields("mode_worse", worst_);
    fields("mode", mode_);
    fields("threshold", threshold_);
    fields("threshold_mode", threshold_mode_);
    fields("best", best_);
    fields("cooldown_counter", cooldown_counter_);
    fields("num_bad_epochs", bad_epochs_);
    check([&](const char* name, const std::string& why) { fields.refuse(name, why); });
  }

 private:
  template <typename Refuse>
  void check(const Refuse& refuse) const {
    if (mode_ != "min" && mode_ != "max") refuse("mode", "is '" + mode_ + "'; it can be 'min' or 'max'");
    if (threshold_mode_ != "rel" && threshold_mode_ != "abs") {
      refuse("threshold_mode", "is '" + threshold_mode_ + "'; it can be 'rel' or 'abs'");
    }
  }

  bool is_better(double metric) const {
    const bool relative = threshold_mode_ == "rel";
    if (mode_ == "min") return metric < (relative ? best_ * (1 - threshold_) : best_ - threshold_);
    return metric > (relative ? best_ * (threshold_ + 1) : best_ + threshold_);
  }

  void reduce() {
    if (min_lrs_.size() != groups() && default_min_lr_) min_lrs_.assign(groups(), *default_min_lr_);
    std::vector<double> rates = lrs();
    for (std::size_t i = 0; i < rates.size() && i < min_lrs_.size(); ++i) {
      const double reduced = std::max(rates[i] * factor_, min_lrs_[i]);
      if (rates[i] - reduced > eps_) rates[i] = reduced;
    }
    rates.resize(min_lrs_.size());
    set_lrs(rates);
  }

  std::string mode_ = "min", threshold_mode_ = "rel";
  double factor_ = 0.1, threshold_ = 1e-4, eps_ = 1e-8, best_, worst_;
  std::int64_t patience_ = 10, cooldown_ = 0, last_epoch_ = 0, cooldown_counter_ = 0, bad_epochs_ = 0;
  std::optional<double> default_min_lr_;
  std::vector<double> min_lrs_;
};

}  // namespace

std::shared_ptr<LrScheduler> make_reduce_lr_on_plateau(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return std::make_shared<ReduceLrOnPlateau>(std::move(optimizer), options);
}

}  // namespace tandem::optim
