#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

// To a constant rate, for averages of weights (Izmailov et al., 2018).
class SwaLr : public EpochScheduler {
 public:
  SwaLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("SWALR", std::move(optimizer), last_epoch_of(options)),
        swa_lrs_(for_groups(options, "swa_lr", options.need<std::vector<double>>("swa_lr"))) {
    options.read("anneal_epochs", anneal_epochs_).read("anneal_strategy", strategy_).finish();
    if (strategy_ != "cos" && strategy_ != "linear") {
      options.refuse("anneal_strategy", "is '" + strategy_ + "'; it can be 'cos' or 'linear'");
    }
    if (anneal_epochs_ < 0) options.refuse("anneal_epochs", "must be at least 0");
  }

  void begin() override {
    for (std::size_t group = 0; group < groups(); ++group) kept(group, "swa_lr") = swa_lrs_[group];
    EpochScheduler::begin();
  }

  void fields(Fields& fields) override {
    fields("_anneal_strategy", strategy_);
    fields("anneal_epochs", anneal_epochs_);
    EpochScheduler::fields(fields);
    if (strategy_ != "cos" && strategy_ != "linear") fields.refuse("_anneal_strategy", "is '" + strategy_ + "'");
  }

 protected:
  std::vector<double> rates() override {
    std::int64_t step = step_count_ - 1;
    if (anneal_epochs_ == 0) step = std::max<std::int64_t>(1, step);
    const double before = annealed(step - 1), now = annealed(step);
    std::vector<double> all = lrs();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double swa_lr = kept(i, "swa_lr");
      const double initial = before == 1 ? swa_lr : (all[i] - before * swa_lr) / (1 - before);
      all[i] = swa_lr * now + initial * (1 - now);
    }
    return all;
  }

 private:
  // How far the rate is by then, of 1.
  double annealed(std::int64_t step) const {
    const double epochs = static_cast<double>(std::max<std::int64_t>(1, anneal_epochs_));
    const double t = std::clamp(static_cast<double>(step) / epochs, 0.0, 1.0);
    return strategy_ == "cos" ? (1 - std::cos(std::numbers::pi * t)) / 2 : t;
  }

  std::vector<double> swa_lrs_;
  std::int64_t anneal_epochs_ = 10;
  std::string strategy_ = "cos";
};

}  // namespace

std::shared_ptr<LrScheduler> make_swa_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<SwaLr>(std::move(optimizer), options);
}

}  // namespace tandem::optim
