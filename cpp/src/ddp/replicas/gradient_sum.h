// Gradients of replicas, summed.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ddp/replicas/threads.h"

namespace tandem::internal {

// The sum of each list, undefined for an empty one, in the order of its elements: the same bits each time. Much is
// shared among `count` threads. The lists' memory is used where nobody else has it.
std::vector<at::Tensor> sum_gradients(std::vector<std::vector<at::Tensor>> lists, int count, ReplicaThreads& threads);

}  // namespace tandem::internal
