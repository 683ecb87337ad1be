// Where an operator of a test's computed.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>
#include <thread>

#include "support/fake_device/fake_device.h"

namespace where {

struct Place {
  std::thread::id thread;
  int openmp_threads = 0;
  c10::Device device;  // the fake device that was current, and its stream
  c10::Stream stream;

  static Place here() {
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::PrivateUse1);
    const c10::Device device = guard.getDevice();
    return {std::this_thread::get_id(), at::get_num_threads(), device, guard.getStream(device)};
  }
  bool operator==(const Place& other) const {
    return thread == other.thread && device == other.device && stream == other.stream;
  }
};

// By the last operator that noted it. Operators run one at a time in these tests.
inline std::optional<Place> last;
inline void note() {
  last = Place::here();
}

}  // namespace where
