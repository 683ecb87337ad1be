#include "ddp/replicas/caller_state.h"

#include <ATen/autocast_mode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace tandem::internal {

CallerState::CallerState(const std::vector<at::Device>& devices)
    : devices_(devices), caches_casts_(at::autocast::is_autocast_cache_enabled()) {
  const std::array<at::DeviceType, 2> types{at::kCPU, at::kCUDA};
  for (std::size_t i = 0; i < types.size(); ++i) autocast_[i] = {types[i], at::autocast::get_autocast_dtype(types[i])};
  for (const at::Device& device : devices) {
    if (!device.is_cpu()) streams_.push_back(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }
}

// The cache of casts is the process's: another replica may be in the middle of using it.
void CallerState::restore_rest() const {
  for (const Autocast& one : autocast_) at::autocast::set_autocast_dtype(one.device, one.dtype);
  at::autocast::set_autocast_cache_enabled(caches_casts_);
  for (const c10::Stream& stream : streams_) {
    c10::impl::VirtualGuardImpl(stream.device_type()).exchangeStream(stream);
  }
}

CallerState::Guard::Guard(const CallerState& state) : before_(state.devices_), modes_(state.modes_) {
  state.restore_rest();
}

CallerState::Guard::~Guard() {
  before_.restore_rest();
}

}  // namespace tandem::internal
