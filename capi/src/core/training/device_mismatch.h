// Why a module's forward failed where its tensors are on several devices.
#pragma once

#include <ATen/core/ivalue.h>

#include "tandem/nn.h"

namespace tandem::capi {

// After an error of LibTorch's, which names no module: throws Error (kInvalidArgument) with the module, what is where
// and what LibTorch says, when a value is on another device than the module's first parameter or buffer or, where it has
// none, than the first value. Else it returns.
void explain_devices(const nn::Module& module, at::ArrayRef<at::IValue> given, const c10::Error& error);

}  // namespace tandem::capi
