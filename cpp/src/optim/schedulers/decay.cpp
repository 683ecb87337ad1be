// Schedulers that lower the rate by a rule of the number of steps.
#include <algorithm>
#include <cmath>
#include <map>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

// Every step_size epochs by gamma.
class StepLr : public EpochScheduler {
 public:
  StepLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("StepLR", std::move(optimizer), last_epoch_of(options)),
        step_size_(options.need_count("step_size")) {
    options.read("gamma", gamma_).finish();
  }

  void fields(Fields& fields) override {
    fields.count("step_size", step_size_);
    fields("gamma", gamma_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    return last_epoch_ == 0 || last_epoch_ % step_size_ != 0 ? lrs() : scaled(gamma_);
  }
  std::optional<std::vector<double>> closed_form() override {
    return scaled_base(std::pow(gamma_, static_cast<double>(last_epoch_ / step_size_)));
  }

 private:
  std::int64_t step_size_;
  double gamma_ = 0.1;
};

// At each milestone by gamma.
class MultiStepLr : public EpochScheduler {
 public:
  MultiStepLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("MultiStepLR", std::move(optimizer), last_epoch_of(options)) {
    for (const std::int64_t milestone : options.need<std::vector<std::int64_t>>("milestones")) ++milestones_[milestone];
    options.read("gamma", gamma_).finish();
  }

  void fields(Fields& fields) override {
    fields("milestones", milestones_);
    fields("gamma", gamma_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    const auto found = milestones_.find(last_epoch_);
    return found == milestones_.end() ? lrs() : scaled(std::pow(gamma_, static_cast<double>(found->second)));
  }
  std::optional<std::vector<double>> closed_form() override {
    std::int64_t passed = 0;
    for (const auto& [milestone, count] : milestones_) passed += milestone <= last_epoch_ ? count : 0;
    return scaled_base(std::pow(gamma_, static_cast<double>(passed)));
  }

 private:
  std::map<std::int64_t, std::int64_t> milestones_;  // and how often each was given
  double gamma_ = 0.1;
};

// A part of the rate until total_iters.
class ConstantLr : public EpochScheduler {
 public:
  ConstantLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("ConstantLR", std::move(optimizer), last_epoch_of(options)) {
    options.read("factor", factor_).read("total_iters", total_iters_).finish();
    if (!(factor_ >= 0 && factor_ <= 1)) options.refuse("factor", "must be at least 0 and at most 1");
  }

  void fields(Fields& fields) override {
    fields("factor", factor_);
    fields("total_iters", total_iters_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    if (last_epoch_ == 0) return scaled(factor_);
    return last_epoch_ != total_iters_ ? lrs() : scaled(1 / factor_);
  }
  std::optional<std::vector<double>> closed_form() override {
    return scaled_base(factor_ + (last_epoch_ >= total_iters_ ? 1 - factor_ : 0));
  }

 private:
  double factor_ = 1.0 / 3;
  std::int64_t total_iters_ = 5;
};

// From start_factor to end_factor of the rate in total_iters.
class LinearLr : public EpochScheduler {
 public:
  LinearLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("LinearLR", std::move(optimizer), last_epoch_of(options)) {
    options.read("start_factor", start_).read("end_factor", end_).read("total_iters", total_iters_).finish();
    if (!(start_ > 0 && start_ <= 1)) options.refuse("start_factor", "must be more than 0 and at most 1");
    if (!(end_ >= 0 && end_ <= 1)) options.refuse("end_factor", "must be at least 0 and at most 1");
  }

  void fields(Fields& fields) override {
    fields("start_factor", start_);
    fields("end_factor", end_);
    fields("total_iters", total_iters_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    if (last_epoch_ == 0) return scaled(start_);
    if (is_initial_ || last_epoch_ > total_iters_) return lrs();
    const auto before = static_cast<double>(last_epoch_ - 1);
    return scaled(1 + (end_ - start_) / (static_cast<double>(total_iters_) * start_ + before * (end_ - start_)));
  }
  std::optional<std::vector<double>> closed_form() override {
    const auto done = static_cast<double>(std::min(total_iters_, last_epoch_));
    return scaled_base(start_ + (end_ - start_) * done / static_cast<double>(total_iters_));
  }

 private:
  double start_ = 1.0 / 3, end_ = 1;
  std::int64_t total_iters_ = 5;
};

// Every epoch by gamma.
class ExponentialLr : public EpochScheduler {
 public:
  ExponentialLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("ExponentialLR", std::move(optimizer), last_epoch_of(options)),
        gamma_(options.need<double>("gamma")) {
    options.finish();
  }

  void fields(Fields& fields) override {
    fields("gamma", gamma_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override { return is_initial_ ? lrs() : scaled(gamma_); }
  std::optional<std::vector<double>> closed_form() override {
    return scaled_base(std::pow(gamma_, static_cast<double>(last_epoch_)));
  }

 private:
  double gamma_;
};

// To 0 in total_iters, by a power of what is left of them.
class PolynomialLr : public EpochScheduler {
 public:
  PolynomialLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("PolynomialLR", std::move(optimizer), last_epoch_of(options)) {
    options.read("total_iters", total_iters_).read("power", power_).finish();
  }

  void fields(Fields& fields) override {
    fields("total_iters", total_iters_);
    fields("power", power_);
    EpochScheduler::fields(fields);
  }

 protected:
  std::vector<double> rates() override {
    if (is_initial_ || last_epoch_ > total_iters_) return lrs();
    return scaled(std::pow(left(last_epoch_) / left(last_epoch_ - 1), power_));
  }
  std::optional<std::vector<double>> closed_form() override {
    return scaled_base(std::pow(left(std::min(total_iters_, last_epoch_)), power_));
  }

 private:
  double left(std::int64_t epoch) const { return 1 - static_cast<double>(epoch) / static_cast<double>(total_iters_); }

  std::int64_t total_iters_ = 5;
  double power_ = 1;
};

}  // namespace

std::shared_ptr<LrScheduler> make_step_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<StepLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_multi_step_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<MultiStepLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_constant_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<ConstantLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_linear_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<LinearLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_exponential_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<ExponentialLr>(std::move(optimizer), options);
}
std::shared_ptr<LrScheduler> make_polynomial_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<PolynomialLr>(std::move(optimizer), options);
}

}  // namespace tandem::optim
