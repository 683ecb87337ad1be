#include "optim/step_watch.h"

#include <algorithm>
#include <atomic>
#include <shared_mutex>
#include <vector>

namespace tandem::optim {
namespace {

std::atomic<bool> watched{false};
std::shared_mutex mutex;  // steps of several optimizers at once do not hold each other up
std::vector<StepWatch*>& watches() {
  static auto* const all = new std::vector<StepWatch*>;  // optimizers may step while the program ends
  return *all;
}

}  // namespace

void watch_steps(StepWatch* watch) {
  const std::unique_lock lock(mutex);
  watches().push_back(watch);
  watched = true;
}

void unwatch_steps(StepWatch* watch) {
  const std::unique_lock lock(mutex);
  std::erase(watches(), watch);
  watched = !watches().empty();
}

void tell_before_step() {
  if (!watched.load(std::memory_order_relaxed)) return;
  const std::shared_lock lock(mutex);
  for (StepWatch* const watch : watches()) watch->before_step();
}

}  // namespace tandem::optim
