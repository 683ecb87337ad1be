#include "tandem/grad_scaler.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem::optim {
namespace {

void check(double growth_factor, double backoff_factor, std::int64_t growth_interval) {
  if (!(growth_factor > 1)) {
    invalid("growth_factor is " + std::to_string(growth_factor) + "; the scale grows only with one above 1");
  }
  if (!(backoff_factor > 0 && backoff_factor < 1)) {
    invalid("backoff_factor is " + std::to_string(backoff_factor) + "; it must lie between 0 and 1");
  }
  if (growth_interval < 1 || growth_interval > INT32_MAX) {
    invalid("growth_interval is " + std::to_string(growth_interval) + "; it must be at least 1 and below 2^31");
  }
}

float positive(double scale, const char* name) {
  const auto narrow = static_cast<float>(scale);
  if (!(narrow > 0) || std::isinf(narrow)) {
    invalid(std::string(name) + " is " + std::to_string(scale) + "; a scale is above 0 and finite as a float32");
  }
  return narrow;
}

bool device_order(const at::Device& a, const at::Device& b) {
  return std::make_tuple(a.type(), a.index()) < std::make_tuple(b.type(), b.index());
}

// The numbers of a gradient, in a layout that the kernel takes.
at::Tensor numbers_of(const at::Tensor& gradient) {
  const at::Tensor numbers = gradient.is_sparse() ? gradient._values() : gradient;
  return numbers.is_complex() ? at::view_as_real(numbers) : numbers;
}

}  // namespace

GradScaler::Progress::Progress() : found_inf(device_order) {}

GradScaler::GradScaler(const Settings& settings) : settings_(settings) {
  check(settings.growth_factor, settings.backoff_factor, settings.growth_interval);
  at::NoGradGuard no_grad;
  scale_ = at::full({1}, positive(settings.init_scale, "init_scale"), at::kFloat);
  tracker_ = at::zeros({1}, at::kInt);
}

at::Tensor GradScaler::scale(const at::Tensor& tensor) const {
  if (!settings_.enabled) return tensor;
  return tensor * scale_.to(tensor.device()).squeeze();
}

GradScaler::Progress& GradScaler::unscaled(const Optimizer& optimizer) {
  at::NoGradGuard no_grad;
  Progress progress;
  std::map<at::Device, std::map<at::ScalarType, std::vector<at::Tensor>>, decltype(&device_order)> by_kind(
      device_order);
  for (const auto& parameter : optimizer.parameters()) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (gradient.scalar_type() == at::kHalf) {
      invalid(
          "a gradient is float16, too narrow to be unscaled: keep parameters in float32 and compute in float16 by "
          "autocast");
    }
    const at::Tensor numbers = numbers_of(gradient);
    by_kind[numbers.device()][numbers.scalar_type()].push_back(numbers);
  }
  if (by_kind.empty()) invalid("no parameter of the optimizer has a gradient; call backward on the scaled loss before");
  const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  for (auto& [device, by_dtype] : by_kind) {
    at::Tensor found = at::zeros({1}, at::TensorOptions(at::kFloat).device(device));
    const at::Tensor factor = inverse.to(device);
    for (auto& [dtype, tensors] : by_dtype) at::_amp_foreach_non_finite_check_and_unscale_(tensors, found, factor);
    progress.found_inf.emplace(device, found);
  }
  return progress_.insert_or_assign(&optimizer, std::move(progress)).first->second;
}

void GradScaler::unscale(const Optimizer& optimizer) {
  if (!settings_.enabled) return;
  if (const auto found = progress_.find(&optimizer); found != progress_.end()) {
    invalid(found->second.stage == Stage::kStepped
                ? "the optimizer was stepped since the last update; unscale comes before step"
                : "the optimizer's gradients were unscaled since the last update; do it once a step");
  }
  unscaled(optimizer);
}

bool GradScaler::step(Optimizer& optimizer) {
  if (!settings_.enabled) {
    optimizer.step();
    return true;
  }
  const auto found = progress_.find(&optimizer);
  if (found != progress_.end() && found->second.stage == Stage::kStepped) {
    invalid("the optimizer was stepped since the last update; call update once after the steps of all optimizers");
  }
  Progress& progress = found != progress_.end() ? found->second : unscaled(optimizer);
  progress.stage = Stage::kStepped;
  for (const auto& [device, flag] : progress.found_inf) {
    if (flag.item<float>() != 0) return false;
  }
  optimizer.step();
  return true;
}

void GradScaler::update() {
  if (!settings_.enabled) return;
  if (progress_.empty()) invalid("no optimizer was stepped or unscaled since the last update");
  at::NoGradGuard no_grad;
  at::Tensor found = at::zeros({1}, at::kFloat);
  for (const auto& [optimizer, progress] : progress_) {
    for (const auto& [device, flag] : progress.found_inf) found += flag.to(at::kCPU);
  }
  at::_amp_update_scale_(scale_, tracker_, found, settings_.growth_factor, settings_.backoff_factor,
                         settings_.growth_interval);
  progress_.clear();
}

void GradScaler::update(double new_scale) {
  if (!settings_.enabled) return;
  at::NoGradGuard no_grad;
  scale_.fill_(positive(new_scale, "new_scale"));
  progress_.clear();
}

GradScaler::State GradScaler::state() const {
  return {settings_.enabled ? scale_.item<float>() : 1.0, settings_.growth_factor, settings_.backoff_factor,
          settings_.growth_interval, tracker_.item<std::int32_t>()};
}

void GradScaler::set_state(const State& state) {
  check(state.growth_factor, state.backoff_factor, state.growth_interval);
  if (state.growth_tracker < 0 || state.growth_tracker > INT32_MAX) {
    invalid("growth_tracker is " + std::to_string(state.growth_tracker) + "; it counts steps");
  }
  const float scale = positive(state.scale, "scale");
  at::NoGradGuard no_grad;
  scale_.fill_(scale);
  tracker_.fill_(state.growth_tracker);
  settings_.growth_factor = state.growth_factor;
  settings_.backoff_factor = state.backoff_factor;
  settings_.growth_interval = state.growth_interval;
  progress_.clear();
}

}  // namespace tandem::optim
