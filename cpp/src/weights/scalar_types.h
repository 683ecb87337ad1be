// torch.save's dtypes and LibTorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "weights/pickle/dtype.h"

namespace tandem::weights {

at::ScalarType scalar_type_of(pickle::Dtype dtype);
// Nothing for those that torch.save does not write either.
std::optional<pickle::Dtype> dtype_of(at::ScalarType type);

}  // namespace tandem::weights
