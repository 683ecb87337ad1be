#include "nn/forward_state.h"

#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <mutex>

#include "nn/thread_generator.h"

namespace tandem::nn {
namespace {

std::vector<at::Device> generator_devices(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Device> devices{at::kCPU};
  for (const auto& tensor : tensors) {
    if (!tensor.defined() || !tensor.is_cuda()) continue;
    if (std::find(devices.begin(), devices.end(), tensor.device()) == devices.end()) {
      devices.push_back(tensor.device());
    }
  }
  return devices;
}

}  // namespace

RandomState::RandomState(const std::vector<at::Device>& devices) : devices_(devices) {
  for (const auto& device : devices_) {
    at::Generator generator = current_generator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    states_.push_back(generator.get_state());
  }
}

void RandomState::restore() const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    at::Generator generator = current_generator(devices_[i]);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(states_[i]);
  }
}

ModeState::ModeState() : grad_(at::GradMode::is_enabled()) {
  const std::array<at::DeviceType, 2> devices{at::kCPU, at::kCUDA};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    autocast_[i] = {devices[i], at::autocast::is_autocast_enabled(devices[i]),
                    at::autocast::get_autocast_dtype(devices[i])};
  }
}

// Casts that autocast keeps may be of another mode.
void ModeState::restore() const {
  at::GradMode::set_enabled(grad_);
  for (const auto& one : autocast_) {
    at::autocast::set_autocast_enabled(one.device, one.enabled);
    at::autocast::set_autocast_dtype(one.device, one.dtype);
  }
  at::autocast::clear_cache();
}

ForwardState::ForwardState(const std::vector<at::Tensor>& inputs, bool random) {
  if (random) random_.emplace(generator_devices(inputs));
}

ForwardState::Again::Again(const ForwardState& state) {
  if (state.random_) {
    random_before_.emplace(state.random_->devices());
    state.random_->restore();
  }
  state.modes_.restore();
}

ForwardState::Again::~Again() {
  modes_before_.restore();
  if (random_before_) random_before_->restore();
}

}  // namespace tandem::nn
