// GPUs, through LibTorch's registry: the core links no CUDA.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "tandem/tandem.h"

namespace tandem::capi {

// The GPU that `device` names, the current one for index -1. `purpose` says what it is for ("a stream"). Throws Error:
// kUnsupported for the CPU, and for a GPU that this process cannot use; kOutOfRange for a number past the last one.
at::Device to_gpu(tdm_device device, const char* purpose);

inline c10::impl::VirtualGuardImpl gpu_guard() {
  return {c10::DeviceType::CUDA};
}

}  // namespace tandem::capi
