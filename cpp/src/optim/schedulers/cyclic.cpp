#include <cmath>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

// Up and down again (Smith, 2017), momentum the other way.
class CyclicLr : public EpochScheduler {
 public:
  CyclicLr(std::shared_ptr<Optimizer> optimizer, Options& options, std::function<double(double)> scale)
      : EpochScheduler("CyclicLR", std::move(optimizer), last_epoch_of(options)),
        own_base_lrs_(for_groups(options, "base_lr", options.need<std::vector<double>>("base_lr"))),
        max_lrs_(for_groups(options, "max_lr", options.need<std::vector<double>>("max_lr"))),
        scale_(std::move(scale)) {
    std::int64_t up = 2000;
    std::optional<std::int64_t> down;
    std::vector<double> base_momentum{0.8}, max_momentum{0.9};
    options.read("step_size_up", up).read("step_size_down", down).read("mode", mode_).read("gamma", gamma_);
    options.read("scale_mode", scale_mode_).read("cycle_momentum", cycle_momentum_);
    options.read("base_momentum", base_momentum).read("max_momentum", max_momentum).finish();
    if (up < 1) options.refuse("step_size_up", "must be at least 1");
    if (down && *down < 1) options.refuse("step_size_down", "must be at least 1");
    total_size_ = static_cast<double>(up) + static_cast<double>(down.value_or(up));
    step_ratio_ = static_cast<double>(up) / total_size_;
    if (scale_mode_ != "cycle" && scale_mode_ != "iterations") {
      options.refuse("scale_mode", "is '" + scale_mode_ + "'; it can be 'cycle' or 'iterations'");
    }
    check_mode([&](const std::string& why) { options.refuse("mode", why); });
    if (cycle_momentum_) {
      momentum_.emplace(type(), *this->optimizer());
      base_momentums_ = for_groups(options, "base_momentum", base_momentum);
      max_momentums_ = for_groups(options, "max_momentum", max_momentum);
    }
  }

  void begin() override {
    if (last_epoch_ == -1) {
      set_lrs(own_base_lrs_);
      for (std::size_t group = 0; cycle_momentum_ && group < groups(); ++group) {
        momentum_->set(group, max_momentums_[group]);
        kept(group, "max_momentum") = max_momentums_[group];
        kept(group, "base_momentum") = base_momentums_[group];
      }
    }
    EpochScheduler::begin();
    base_lrs_ = own_base_lrs_;
  }

  void fields(Fields& fields) override {
    fields.per_group("max_lrs", max_lrs_);
    fields("total_size", total_size_);
    fields("step_ratio", step_ratio_);
    fields("mode", mode_);
    fields("gamma", gamma_);
    fields("scale_mode", scale_mode_);
    fields.constant("_scale_fn_custom", at::IValue());
    bool cycles = cycle_momentum_;
    fields("cycle_momentum", cycles);
    if (cycles != cycle_momentum_) fields.refuse("cycle_momentum", "is not as this scheduler was made");
    if (cycle_momentum_) {
      fields("use_beta1", momentum_->use_beta1());
      fields.per_group("base_momentums", base_momentums_);
      fields.per_group("max_momentums", max_momentums_);
    }
    EpochScheduler::fields(fields);
    check_mode([&](const std::string& why) { fields.refuse("mode", why); });
  }

  void restore() override { rates(); }

 protected:
  std::vector<double> rates() override {
    const auto epoch = static_cast<double>(last_epoch_);
    const double cycle = std::floor(1 + epoch / total_size_);
    const double x = 1 + epoch / total_size_ - cycle;
    const double height = x <= step_ratio_ ? x / step_ratio_ : (x - 1) / (step_ratio_ - 1);
    const double scale = scale_at(scale_mode_ == "cycle" ? cycle : epoch);
    std::vector<double> all;
    for (std::size_t i = 0; i < base_lrs_.size(); ++i) {
      all.push_back(base_lrs_[i] + (max_lrs_[i] - base_lrs_[i]) * height * scale);
    }
    for (std::size_t i = 0; i < max_momentums_.size() && i < groups(); ++i) {
      momentum_->set(i, max_momentums_[i] - (max_momentums_[i] - base_momentums_[i]) * height * scale);
    }
    return all;
  }

 private:
  template <typename Refuse>
  void check_mode(const Refuse& refuse) {
    if (scale_) return;
    if (mode_ != "triangular" && mode_ != "triangular2" && mode_ != "exp_range") {
      refuse("is '" + mode_ + "'; it can be 'triangular', 'triangular2' or 'exp_range'");
    }
    scale_mode_ = mode_ == "exp_range" ? "iterations" : "cycle";
  }

  double scale_at(double x) const {
    if (scale_) return scale_(x);
    if (mode_ == "triangular") return 1;
    return mode_ == "triangular2" ? 1 / std::pow(2, x - 1) : std::pow(gamma_, x);
  }

  std::vector<double> own_base_lrs_, max_lrs_;
  std::function<double(double)> scale_;
  double total_size_ = 0, step_ratio_ = 0, gamma_ = 1;
  std::string mode_ = "triangular", scale_mode_ = "cycle";
  bool cycle_momentum_ = true;
  std::optional<MomentumCycle> momentum_;
  std::vector<double> base_momentums_, max_momentums_;
};

}  // namespace

std::shared_ptr<LrScheduler> make_cyclic_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<CyclicLr>(std::move(optimizer), options, nullptr);
}

std::shared_ptr<LrScheduler> make_cyclic_lr(std::shared_ptr<Optimizer> optimizer, const std::vector<Option>& options,
                                            std::function<double(double)> scale) {
  Options reader("CyclicLR", options);
  return begun<CyclicLr>(std::move(optimizer), reader, std::move(scale));
}

}  // namespace tandem::optim
