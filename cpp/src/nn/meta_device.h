// Tensors without memory: what names and shapes are asked of a module that would take gigabytes.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tandem::nn {

// While it lives, tensors that operators make on this thread without a device, or on the CPU, are on the device "meta".
// Source: torch.device("meta") as a context in Python.
class MetaDevice {
 public:
  MetaDevice();

 private:
  c10::impl::IncludeDispatchKeyGuard asked_;
};

}  // namespace tandem::nn
