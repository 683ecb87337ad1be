// Optimizers, schedulers of learning rates, averages of weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/callback.hpp"
#include "tandem/abi/value.hpp"

namespace tandem::abi {

// Those of torch.optim by name, with Python's options.
class Optimizer {
 public:
  Optimizer(const std::string& type, const TensorList& parameters, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_optimizer_create(type.c_str(), parameters.data(), parameters.size(), raw.data(), raw.size(),
                               handle_.out()));
  }

  void step() { check(tdm_optimizer_step(handle_.get())); }
  // Computes the loss, which it gives: clears the gradients, calls forward and backward. LBFGS calls it several times.
  // What it throws ends the step; Error::cause() is the exception itself. Gives the first loss.
  Tensor step(const std::function<Tensor()>& closure) {
    auto* const function = const_cast<std::function<Tensor()>*>(&closure);
    tdm_tensor* loss = nullptr;
    check(tdm_optimizer_step_closure(handle_.get(), evaluate, function, nullptr, &loss));
    return Tensor(loss);
  }
  void zero_grad(bool set_to_none = true) { check(tdm_optimizer_zero_grad(handle_.get(), set_to_none)); }
  // One more group of parameters, with settings of its own: what `options` leaves out is as the optimizer was made.
  void add_group(const TensorList& parameters, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_optimizer_add_group(handle_.get(), parameters.data(), parameters.size(), raw.data(), raw.size()));
  }
  int64_t group_count() const {
    int64_t count = 0;
    check(tdm_optimizer_group_count(handle_.get(), &count));
    return count;
  }
  // One after the other, of a group or of TDM_ALL_GROUPS.
  void set_options(int64_t group, const Options& options) {
    for (const tdm_option& option : options.raw()) check(tdm_optimizer_set_option(handle_.get(), group, &option));
  }
  // One result: a number, a flag or, of "betas", numbers.
  Results option(int64_t group, const std::string& name) const {
    Results found(1);
    check(tdm_optimizer_get_option(handle_.get(), group, name.c_str(), found.data()));
    return found;
  }
  // Shares storage with the optimizer.
  NamedTensors state() const {
    tdm_named_tensors* list = nullptr;
    check(tdm_optimizer_state(handle_.get(), &list));
    return NamedTensors(list);
  }
  void load_state(const std::vector<std::string>& names, const TensorList& tensors) {
    if (names.size() != tensors.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Optimizer::load_state", "give one name for each tensor");
    }
    const auto pointers = c_strings(names);
    check(tdm_optimizer_load_state(handle_.get(), pointers.data(), tensors.data(), tensors.size()));
  }

  // One result, a dict: the state as Python's optimizer.state_dict() is. It shares storage with the optimizer.
  Results state_dict() const {
    Results dict(1);
    check(tdm_optimizer_state_dict(handle_.get(), dict.data()));
    return dict;
  }
  // Of one such value.
  void load_state_dict(const Arguments& dict) { check(tdm_optimizer_load_state_dict(handle_.get(), one(dict))); }

  tdm_optimizer* raw() const { return handle_.get(); }

 private:
  static tdm_error* evaluate(void* closure, tdm_tensor** loss) {
    return callback::guarded([&] {
      const Tensor computed = (*static_cast<std::function<Tensor()>*>(closure))();
      if (computed.defined()) check(tdm_tensor_share(computed.raw(), loss));
    });
  }

  Handle<tdm_optimizer, tdm_optimizer_free> handle_;
};

// What a scheduler asks for: a group's factor at a number of steps, or the scale of a cycle. It must not use the
// scheduler or the optimizer. What it throws ends the step, which then changes nothing.
using RateFunction = std::function<double(int64_t group, double at)>;

// Those of torch.optim.lr_scheduler by name, with Python's options. Holds the optimizer.
class LrScheduler {
 public:
  LrScheduler(const std::string& type, const Optimizer& optimizer, const Options& options = {}) {
    const auto raw = options.raw();
    check(tdm_lr_scheduler_create(type.c_str(), optimizer.raw(), raw.data(), raw.size(), handle_.out()));
  }
  // LambdaLR, MultiplicativeLR or CyclicLR.
  static LrScheduler of_function(const std::string& type, const Optimizer& optimizer, const Options& options,
                                 RateFunction function) {
    const auto raw = options.raw();
    auto kept = std::make_unique<RateFunction>(std::move(function));
    LrScheduler made;
    check(tdm_lr_scheduler_create_with_function(type.c_str(), optimizer.raw(), raw.data(), raw.size(), factor,
                                                kept.get(), callback::destroy<RateFunction>, made.handle_.out()));
    kept.release();
    return made;
  }

  // One after the other; see tdm_lr_scheduler_create_sequential().
  static LrScheduler sequential(const Optimizer& optimizer, const std::vector<const LrScheduler*>& schedulers,
                                const std::vector<int64_t>& milestones) {
    const auto list = raw(schedulers);
    LrScheduler made;
    check(tdm_lr_scheduler_create_sequential(optimizer.raw(), list.data(), list.size(), milestones.data(),
                                             milestones.size(), -1, made.handle_.out()));
    return made;
  }
  // All at each step.
  static LrScheduler chained(const std::vector<const LrScheduler*>& schedulers) {
    const auto list = raw(schedulers);
    LrScheduler made;
    check(tdm_lr_scheduler_create_chained(list.data(), list.size(), made.handle_.out()));
    return made;
  }

  void step() { check(tdm_lr_scheduler_step(handle_.get())); }
  // Of ReduceLROnPlateau alone.
  void step_metric(double metric) { check(tdm_lr_scheduler_step_metric(handle_.get(), metric)); }
  // Of CosineAnnealingWarmRestarts alone.
  void step_to(double epoch) { check(tdm_lr_scheduler_step_to(handle_.get(), epoch)); }
  std::vector<double> last_lr() const {
    Results rates(1);
    check(tdm_lr_scheduler_last_lr(handle_.get(), rates.data()));
    return rates.reals(0);
  }
  // One result, a dict.
  Results state() const {
    Results state(1);
    check(tdm_lr_scheduler_state(handle_.get(), state.data()));
    return state;
  }
  // One argument, a dict.
  void load_state(const Arguments& state) {
    if (state.size() != 1) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "LrScheduler::load_state", "a state is one argument, a dict");
    }
    check(tdm_lr_scheduler_load_state(handle_.get(), state.data()));
  }

 private:
  LrScheduler() = default;

  static std::vector<tdm_lr_scheduler*> raw(const std::vector<const LrScheduler*>& schedulers) {
    std::vector<tdm_lr_scheduler*> list;
    for (const LrScheduler* one : schedulers) list.push_back(one ? one->handle_.get() : nullptr);
    return list;
  }
  static tdm_error* factor(void* function, int64_t group, double at, double* factor) {
    return callback::guarded([&] { *factor = (*static_cast<RateFunction*>(function))(group, at); });
  }

  Handle<tdm_lr_scheduler, tdm_lr_scheduler_free> handle_;
};

// Averages of parameters and buffers: exponential moving ones where decay is a number, means where it is NaN. Source:
// torch.optim.swa_utils.AveragedModel.
class AveragedParameters {
 public:
  AveragedParameters(const TensorList& parameters, const TensorList& buffers, double decay, bool use_buffers = false) {
    tdm_averaged_parameters_options options = TDM_AVERAGED_PARAMETERS_OPTIONS_INIT;
    options.use_buffers = use_buffers;
    if (!std::isnan(decay)) {
      options.averaging = TDM_AVERAGING_EMA;
      options.decay = decay;
    }
    check(tdm_averaged_parameters_create(parameters.data(), parameters.size(), buffers.data(), buffers.size(), &options,
                                         handle_.out()));
  }

  void update() { check(tdm_averaged_parameters_update(handle_.get())); }
  void swap() { check(tdm_averaged_parameters_swap(handle_.get())); }
  // Shares storage with the averages.
  NamedTensors state() const {
    tdm_named_tensors* list = nullptr;
    check(tdm_averaged_parameters_state(handle_.get(), &list));
    return NamedTensors(list);
  }
  void load_state(const std::vector<std::string>& names, const TensorList& tensors) {
    if (names.size() != tensors.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "AveragedParameters::load_state", "give one name for each tensor");
    }
    const auto pointers = c_strings(names);
    check(tdm_averaged_parameters_load_state(handle_.get(), pointers.data(), tensors.data(), tensors.size()));
  }

 private:
  Handle<tdm_averaged_parameters, tdm_averaged_parameters_free> handle_;
};

}  // namespace tandem::abi
