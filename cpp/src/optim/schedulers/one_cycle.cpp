#include <cmath>
#include <numbers>

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

// Up once and down to next to nothing (Smith and Topin, 2017), momentum the other way.
class OneCycleLr : public EpochScheduler {
 public:
  OneCycleLr(std::shared_ptr<Optimizer> optimizer, Options& options)
      : EpochScheduler("OneCycleLR", std::move(optimizer), last_epoch_of(options)),
        max_lrs_(for_groups(options, "max_lr", options.need<std::vector<double>>("max_lr"))) {
    std::optional<std::int64_t> total, epochs, steps_per_epoch;
    double pct_start = 0.3;
    bool three_phase = false;
    std::vector<double> base_momentum{0.85}, max_momentum{0.95};
    options.read("total_steps", total).read("epochs", epochs).read("steps_per_epoch", steps_per_epoch);
    options.read("pct_start", pct_start).read("anneal_strategy", strategy_).read("cycle_momentum", cycle_momentum_);
    options.read("base_momentum", base_momentum).read("max_momentum", max_momentum);
    options.read("div_factor", div_factor_).read("final_div_factor", final_div_factor_);
    options.read("three_phase", three_phase).finish();
    if (!total && epochs && steps_per_epoch) {
      if (*epochs < 1) options.refuse("epochs", "must be at least 1");
      if (*steps_per_epoch < 1) options.refuse("steps_per_epoch", "must be at least 1");
      if (*epochs > kMostEpochs / *steps_per_epoch) {
        options.refuse("epochs", "by steps_per_epoch must be at most " + std::to_string(kMostEpochs));
      }
      total = *epochs * *steps_per_epoch;
    }
    if (!total) options.refuse("total_steps", "is missing; give it, or epochs and steps_per_epoch");
    if (*total < 1) options.refuse("total_steps", "must be at least 1");
    total_steps_ = *total;
    if (!(pct_start >= 0 && pct_start <= 1)) options.refuse("pct_start", "must be at least 0 and at most 1");
    if (strategy_ != "cos" && strategy_ != "linear") {
      options.refuse("anneal_strategy", "is '" + strategy_ + "'; it can be 'cos' or 'linear'");
    }
    const auto steps = static_cast<double>(total_steps_);
    const Phase up{pct_start * steps - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"};
    if (three_phase) {
      phases_ = {up,
                 {2 * pct_start * steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"},
                 {steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"}};
    } else {
      phases_ = {up, {steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"}};
    }
    if (cycle_momentum_) {
      momentum_.emplace(type(), *this->optimizer());
      base_momentums_ = for_groups(options, "base_momentum", base_momentum);
      max_momentums_ = for_groups(options, "max_momentum", max_momentum);
    }
  }

  void begin() override {
    for (std::size_t group = 0; last_epoch_ == -1 && group < groups(); ++group) {
      kept(group, "initial_lr") = max_lrs_[group] / div_factor_;
      kept(group, "max_lr") = max_lrs_[group];
      kept(group, "min_lr") = kept(group, "initial_lr") / final_div_factor_;
      if (!cycle_momentum_) continue;
      momentum_->set(group, max_momentums_[group]);
      kept(group, "max_momentum") = max_momentums_[group];
      kept(group, "base_momentum") = base_momentums_[group];
    }
    EpochScheduler::begin();
  }

  void fields(Fields& fields) override {
    fields("total_steps", total_steps_);
    fields("_anneal_func_type", strategy_);
    bool cycles = cycle_momentum_;
    fields("cycle_momentum", cycles);
    if (cycles != cycle_momentum_) fields.refuse("cycle_momentum", "is not as this scheduler was made");
    if (cycle_momentum_) fields("use_beta1", momentum_->use_beta1());
    phase_fields(fields);
    EpochScheduler::fields(fields);
    if (strategy_ != "cos" && strategy_ != "linear") fields.refuse("_anneal_func_type", "is '" + strategy_ + "'");
  }

  void restore() override { rates(); }

 protected:
  std::vector<double> rates() override {
    if (last_epoch_ > total_steps_) {
      refuse(" was made for " + std::to_string(total_steps_) + " steps, and steps a " + std::to_string(last_epoch_) +
             "th time");
    }
    const auto step = static_cast<double>(last_epoch_);
    double begin = 0;
    std::size_t number = 0;
    for (; number + 1 < phases_.size() && step > phases_[number].end; ++number) begin = phases_[number].end;
    const Phase& phase = phases_[number];
    const double done = (step - begin) / (phase.end - begin);
    std::vector<double> all;
    for (std::size_t group = 0; group < groups(); ++group) {
      const auto between = [&](const std::string& from, const std::string& to) {
        return anneal(kept(group, from.c_str()), kept(group, to.c_str()), done);
      };
      all.push_back(between(phase.start_lr, phase.end_lr));
      if (cycle_momentum_) momentum_->set(group, between(phase.start_momentum, phase.end_momentum));
    }
    return all;
  }

 private:
  struct Phase {
    double end;
    std::string start_lr, end_lr, start_momentum, end_momentum;
  };

  double anneal(double start, double end, double done) const {
    if (strategy_ == "linear") return (end - start) * done + start;
    return end + (start - end) / 2 * (std::cos(std::numbers::pi * done) + 1);
  }

  // A list of dictionaries.
  void phase_fields(Fields& fields) {
    const char* name = "_schedule_phases";
    if (fields.mode() == Fields::Mode::kSave) {
      c10::impl::GenericList list(c10::AnyType::get());
      for (Phase& phase : phases_) list.push_back(one_phase(Fields::Mode::kSave, phase, empty_state()));
      fields.constant(name, list);
      return;
    }
    const at::IValue& given = fields.given(name);
    if (!given.isList() || given.toListRef().empty()) fields.refuse(name, "is no list of phases");
    std::vector<Phase> phases;
    for (const at::IValue& one : given.toListRef()) {
      if (!one.isGenericDict()) fields.refuse(name, "is no list of dictionaries");
      one_phase(Fields::Mode::kLoad, phases.emplace_back(), one.toGenericDict());
    }
    phases_ = std::move(phases);
  }

  SchedulerState one_phase(Fields::Mode mode, Phase& phase, SchedulerState state) const {
    Fields fields(mode, "OneCycleLR: _schedule_phases", 0, state);
    fields("end_step", phase.end);
    fields("start_lr", phase.start_lr);
    fields("end_lr", phase.end_lr);
    fields("start_momentum", phase.start_momentum);
    fields("end_momentum", phase.end_momentum);
    fields.finish();
    return state;
  }

  std::vector<double> max_lrs_;
  std::int64_t total_steps_ = 0;
  std::string strategy_ = "cos";
  bool cycle_momentum_ = true;
  double div_factor_ = 25, final_div_factor_ = 1e4;
  std::vector<Phase> phases_;
  std::optional<MomentumCycle> momentum_;
  std::vector<double> base_momentums_, max_momentums_;
};

}  // namespace

std::shared_ptr<LrScheduler> make_one_cycle_lr(std::shared_ptr<Optimizer> optimizer, Options& options) {
  return begun<OneCycleLr>(std::move(optimizer), options);
}

}  // namespace tandem::optim
