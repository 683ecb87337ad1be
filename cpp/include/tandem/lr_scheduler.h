// Learning rates that change while an optimizer steps: the schedulers of torch.optim.lr_scheduler, and SWALR.
#pragma once

#include <ATen/core/Dict.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/optim.h"

namespace tandem::optim {

// By Python's names, which are strings. Values are numbers, flags, strings, lists, dictionaries or none.
using SchedulerState = c10::impl::GenericDict;

// Sets "lr" of an optimizer's groups, and "momentum" or "beta1" where it cycles those, as the class of the same name
// does in Python: at once when it is made, and with each step(). Most compute a rate from the one that the group has,
// so that several compose and what the program sets itself counts. Keeps the optimizer. Not thread-safe.
//
//   auto scheduler = make_lr_scheduler("CosineAnnealingLR", sgd, {{"T_max", 100}});
//   for (...) { ...; sgd->step(); scheduler->step(); }
class TANDEM_API LrScheduler {
 public:
  virtual ~LrScheduler() = default;
  virtual const char* type() const = 0;

  // After the optimizer's. Throws tandem::Error: kUnsupported from ReduceLROnPlateau, kInvalidArgument for a rate that
  // an optimizer does not take, or where the optimizer got further groups meanwhile.
  virtual void step() = 0;
  // Of ReduceLROnPlateau alone: `metric` is what is to become small, or great. The others throw kUnsupported.
  virtual void step(double metric);
  // Of CosineAnnealingWarmRestarts alone: to any place, also within an epoch, as in epoch + batch / batches. The others
  // throw kUnsupported.
  virtual void step_to(double epoch);

  // Each group's rate as step() left it.
  virtual const std::vector<double>& last_lr() const = 0;

  // Python's state_dict(), and load_state_dict() of it. Functions are no part of it. Loading also sets the rates of the
  // groups to what they were (in Python they come with the optimizer's state), and cycled momentums. All or nothing;
  // throws tandem::Error (kInvalidArgument) for a name that is missing or unknown, or a value of another type.
  virtual SchedulerState state() const = 0;
  virtual void load_state(const SchedulerState& state) = 0;

 protected:
  LrScheduler() = default;
};

// "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR",
// "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau" or "SWALR", with Python's options. What
// may differ between groups is a number for all or a list. Throws tandem::Error: kNotFound for an unknown type or
// option, kInvalidArgument for a bad or missing value.
TANDEM_API std::shared_ptr<LrScheduler> make_lr_scheduler(const std::string& type, std::shared_ptr<Optimizer> optimizer,
                                                          const std::vector<Option>& options);

// What a function throws ends the step, which then changes nothing, but for what a chain's schedulers before it did.
// Of the number of steps so far: a factor of the initial rate (LambdaLR), or of the rate before (MultiplicativeLR). One
// for all groups or one for each.
using RateFunction = std::function<double(std::int64_t epoch)>;
TANDEM_API std::shared_ptr<LrScheduler> make_lambda_lr(std::shared_ptr<Optimizer> optimizer,
                                                       std::vector<RateFunction> functions,
                                                       std::int64_t last_epoch = -1);
TANDEM_API std::shared_ptr<LrScheduler> make_multiplicative_lr(std::shared_ptr<Optimizer> optimizer,
                                                               std::vector<RateFunction> functions,
                                                               std::int64_t last_epoch = -1);

// CyclicLR whose cycles are scaled by a function: of the cycle's number, or with the option "scale_mode" "iterations"
// of the number of steps.
TANDEM_API std::shared_ptr<LrScheduler> make_cyclic_lr(std::shared_ptr<Optimizer> optimizer,
                                                       const std::vector<Option>& options,
                                                       std::function<double(double)> scale);

// "LambdaLR", "MultiplicativeLR" or "CyclicLR" with options, by one function for all groups: of a group's number, and
// of what the functions above are given. CyclicLR asks it for group 0 alone.
using GroupFunction = std::function<double(std::size_t group, double at)>;
TANDEM_API std::shared_ptr<LrScheduler> make_lr_scheduler(const std::string& type, std::shared_ptr<Optimizer> optimizer,
                                                          const std::vector<Option>& options, GroupFunction function);

// One scheduler after the other: at each milestone, a number of steps, the next begins. All are of this optimizer.
TANDEM_API std::shared_ptr<LrScheduler> make_sequential_lr(std::shared_ptr<Optimizer> optimizer,
                                                           std::vector<std::shared_ptr<LrScheduler>> schedulers,
                                                           std::vector<std::int64_t> milestones,
                                                           std::int64_t last_epoch = -1);

// All schedulers at each step, each on what the one before made.
TANDEM_API std::shared_ptr<LrScheduler> make_chained_scheduler(std::vector<std::shared_ptr<LrScheduler>> schedulers);

}  // namespace tandem::optim
