// A module's tensors, as its replicas have them.
#pragma once

#include <ATen/core/Tensor.h>

#include "tandem/data_parallel.h"

namespace tandem::internal {

// Brings a set up to date for `count` replicas. A replica's parameter, and the first replica's buffers, become another
// name for the module's memory where it is on their device, and a copy where it is not; the others' buffers are copies.
// `leaves`: whether the replicas' parameters require gradients where the module's do. Throws Error (kInvalidArgument)
// for lists that do not belong together.
void refresh(const ReplicaCall& call, int count, const std::vector<at::Device>& devices, bool leaves);

}  // namespace tandem::internal
