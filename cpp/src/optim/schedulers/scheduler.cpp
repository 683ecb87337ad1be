#include "optim/schedulers/scheduler.h"

#include "base/invalid.h"

namespace tandem::optim {
namespace {

bool has_option(const Optimizer& optimizer, const char* name) {
  try {
    optimizer.get_option(0, name);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    return false;
  }
}

}  // namespace

void LrScheduler::step(double) {
  throw Error(ErrorCode::kUnsupported,
              std::string(type()) + " takes no metric; only ReduceLROnPlateau does. Call step() without one");
}

void LrScheduler::step_to(double) {
  throw Error(ErrorCode::kUnsupported,
              std::string(type()) + " goes by whole steps; only CosineAnnealingWarmRestarts goes to any place");
}

Scheduler::Scheduler(const char* type, std::shared_ptr<Optimizer> optimizer)
    : type_(type), optimizer_(std::move(optimizer)) {
  if (!optimizer_) invalid(std::string(type) + " needs an optimizer");
}

void Scheduler::refuse(const std::string& why) const {
  invalid(std::string(type()) + why);
}

std::vector<double> Scheduler::lrs() const {
  std::vector<double> all;
  for (std::size_t group = 0; group < groups(); ++group) all.push_back(lr(group));
  return all;
}

void Scheduler::set_lrs(const std::vector<double>& rates) {
  if (rates.size() != groups()) {
    refuse(" was made for " + std::to_string(rates.size()) + " groups of parameters, but the optimizer has " +
           std::to_string(groups()) + " now; make schedulers when all groups are there");
  }
  for (std::size_t group = 0; group < rates.size(); ++group) optimizer_->set_option(group, {"lr", rates[group]});
}

std::vector<double> Scheduler::for_groups(const Options& reader, const char* name, std::vector<double> values) const {
  if (values.size() == 1) values.resize(groups(), values[0]);
  if (values.size() != groups()) {
    reader.refuse(name, "has " + std::to_string(values.size()) + " numbers; it must be one number or " +
                            std::to_string(groups()) + ", one for each group");
  }
  return values;
}

SchedulerState Scheduler::state() const {
  SchedulerState state = empty_state();
  Fields fields(Fields::Mode::kSave, type(), groups(), state);
  const_cast<Scheduler*>(this)->fields(fields);  // which only reads them in this mode
  return state;
}

void Scheduler::read(const SchedulerState& state) {
  Fields fields(Fields::Mode::kLoad, type(), groups(), state);
  this->fields(fields);
  fields.finish();
}

void Scheduler::load_state(const SchedulerState& state) {
  const SchedulerState before = this->state();
  const std::vector<double> rates = lrs();
  try {
    read(state);
    set_lrs(last_lr_);
    restore();
  } catch (...) {
    read(before);
    set_lrs(rates);
    throw;
  }
}

std::int64_t last_epoch_of(Options& options) {
  std::int64_t last_epoch = -1;
  options.read("last_epoch", last_epoch);
  return last_epoch;
}

EpochScheduler::EpochScheduler(const char* type, std::shared_ptr<Optimizer> optimizer, std::int64_t last_epoch)
    : Scheduler(type, std::move(optimizer)), last_epoch_(last_epoch) {
  if (last_epoch < -1 || last_epoch > kMostEpochs) {
    refuse(": option 'last_epoch' is " + std::to_string(last_epoch) + "; -1 begins anew, and the last epoch is " +
           std::to_string(kMostEpochs));
  }
}

void EpochScheduler::begin() {
  for (std::size_t group = 0; group < groups(); ++group) {
    auto& kept = optimizer()->schedule(group);
    if (last_epoch_ == -1) kept.try_emplace("initial_lr", lr(group));
    const auto initial = kept.find("initial_lr");
    if (initial == kept.end()) {
      refuse(": option 'last_epoch' is " + std::to_string(last_epoch_) + ", but group " + std::to_string(group) +
             " has had no scheduler that knew its initial rate; make it anew and load its state");
    }
    base_lrs_.push_back(initial->second);
  }
  initial_step();
}

void EpochScheduler::initial_step() {
  step_count_ = 0;
  is_initial_ = true;
  step();
  is_initial_ = false;
}

void EpochScheduler::step() {
  ++step_count_;
  ++last_epoch_;
  try {
    apply(rates());
  } catch (...) {  // such as the program's function
    --step_count_;
    --last_epoch_;
    throw;
  }
}

void EpochScheduler::begin_at_zero() {
  last_epoch_ = 0;
  auto rates_of_zero = closed_form();
  apply(rates_of_zero ? *rates_of_zero : rates());
}

void EpochScheduler::apply(const std::vector<double>& rates) {
  set_lrs(rates);
  last_lr_ = lrs();
}

std::vector<double> EpochScheduler::scaled(double factor) const {
  std::vector<double> all = lrs();
  for (double& one : all) one *= factor;
  return all;
}

std::vector<double> EpochScheduler::scaled_base(double factor) const {
  std::vector<double> all = base_lrs_;
  for (double& one : all) one *= factor;
  return all;
}

void EpochScheduler::fields(Fields& fields) {
  fields.per_group("base_lrs", base_lrs_);
  fields("last_epoch", last_epoch_);
  fields("_step_count", step_count_);
  fields.per_group("_last_lr", last_lr_);
  fields.constant("_is_initial", false);
  fields.constant("_get_lr_called_within_step", false);
}

MomentumCycle::MomentumCycle(const char* owner, Optimizer& optimizer)
    : optimizer_(optimizer), use_beta1_(has_option(optimizer, "beta1")) {
  if (!use_beta1_ && !has_option(optimizer, "momentum")) {
    invalid(std::string(owner) + ": " + optimizer.type() +
            " has neither momentum nor betas to cycle; set option 'cycle_momentum' to false");
  }
}

void MomentumCycle::set(std::size_t group, double momentum) const {
  optimizer_.set_option(group, {use_beta1_ ? "beta1" : "momentum", momentum});
}

}  // namespace tandem::optim
