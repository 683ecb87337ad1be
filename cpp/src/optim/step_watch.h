// For who reads parameters and optimizers' states beside training: to be done before they change.
#pragma once

namespace tandem::optim {

class StepWatch {
 public:
  virtual ~StepWatch() = default;
  // On the thread that steps an optimizer, before anything changes.
  virtual void before_step() = 0;
};

// Thread-safe. unwatch_steps() waits for a call that goes on.
void watch_steps(StepWatch* watch);
void unwatch_steps(StepWatch* watch);

// By every optimizer as it begins a step. Costs a load where nobody watches.
void tell_before_step();

}  // namespace tandem::optim
