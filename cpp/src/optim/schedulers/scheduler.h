// What schedulers have in common. Members and steps are those of Python's LRScheduler, so that what it does at the
// edges (a scheduler made after another, resumed, begun by SequentialLR) comes out the same.
#pragma once

#include <optional>

#include "optim/schedulers/fields.h"
#include "options.h"
#include "tandem/error.h"
#include "tandem/lr_scheduler.h"

namespace tandem::optim {

class Scheduler : public LrScheduler {
 public:
  using LrScheduler::step;
  const char* type() const final { return type_; }
  const std::vector<double>& last_lr() const final { return last_lr_; }
  SchedulerState state() const final;
  void load_state(const SchedulerState& state) final;

  const std::shared_ptr<Optimizer>& optimizer() const { return optimizer_; }

  // For SequentialLR, which begins its schedulers anew, or at 0 when their milestone is reached.
  virtual void initial_step() { step(); }
  virtual void undo() {}
  virtual bool can_begin_later() const { return false; }
  virtual void begin_at_zero() {}

  // The state's names and members.
  virtual void fields(Fields& fields) = 0;
  // Sets what else of the optimizer's the loaded state stands for.
  virtual void restore() {}

 protected:
  Scheduler(const char* type, std::shared_ptr<Optimizer> optimizer);

  std::size_t groups() const { return optimizer_->group_count(); }
  double lr(std::size_t group) const { return optimizer_->get_option(group, "lr").toDouble(); }
  std::vector<double> lrs() const;
  void set_lrs(const std::vector<double>& rates);
  // Python keeps these in param_groups: "initial_lr" and so on.
  double& kept(std::size_t group, const char* name) { return optimizer_->schedule(group)[name]; }
  // One number for all groups, or one for each.
  std::vector<double> for_groups(const Options& reader, const char* name, std::vector<double> values) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::vector<double> last_lr_;

 private:
  void read(const SchedulerState& state);

  const char* type_;
  std::shared_ptr<Optimizer> optimizer_;
};

// Python's LRScheduler itself.
class EpochScheduler : public Scheduler {
 public:
  using Scheduler::step;
  void step() override;
  void initial_step() final;
  void undo() final { --last_epoch_; }
  bool can_begin_later() const final { return true; }
  void begin_at_zero() final;

  // What constructors of Python's classes end with.
  virtual void begin();

  void fields(Fields& fields) override;

 protected:
  EpochScheduler(const char* type, std::shared_ptr<Optimizer> optimizer, std::int64_t last_epoch = -1);

  // The rates of this epoch: from those that the groups have, or from base_lrs_.
  virtual std::vector<double> rates() = 0;
  // From base_lrs_ alone, where there is such a form.
  virtual std::optional<std::vector<double>> closed_form() { return std::nullopt; }

  // Each group's rate times a factor; each base rate times a factor.
  std::vector<double> scaled(double factor) const;
  std::vector<double> scaled_base(double factor) const;

  void apply(const std::vector<double>& rates);

  std::vector<double> base_lrs_;
  std::int64_t last_epoch_;
  std::int64_t step_count_ = 0;
  bool is_initial_ = false;
};

std::int64_t last_epoch_of(Options& options);

// What CyclicLR and OneCycleLR do to momentums, against the rates.
class MomentumCycle {
 public:
  // Throws Error for an optimizer that has neither.
  MomentumCycle(const char* owner, Optimizer& optimizer);
  void set(std::size_t group, double momentum) const;
  bool& use_beta1() { return use_beta1_; }

 private:
  Optimizer& optimizer_;
  bool use_beta1_;
};

template <typename T, typename... Arguments>
std::shared_ptr<LrScheduler> begun(Arguments&&... arguments) {
  auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
  made->begin();
  return made;
}

using MakeScheduler = std::shared_ptr<LrScheduler> (*)(std::shared_ptr<Optimizer>, Options&);
std::shared_ptr<LrScheduler> make_step_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_multi_step_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_constant_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_linear_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_exponential_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_polynomial_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_cosine_annealing_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_cosine_annealing_warm_restarts(std::shared_ptr<Optimizer> optimizer,
                                                                 Options& options);
std::shared_ptr<LrScheduler> make_cyclic_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_one_cycle_lr(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_reduce_lr_on_plateau(std::shared_ptr<Optimizer> optimizer, Options& options);
std::shared_ptr<LrScheduler> make_swa_lr(std::shared_ptr<Optimizer> optimizer, Options& options);

}  // namespace tandem::optim
