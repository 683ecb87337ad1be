// All-reduces of gradients that communication hooks are made of.
#pragma once

#include "tandem/comm_hook.h"

namespace tandem {

// Sparse tensors too.
Work reduce_sum(ProcessGroup& group, const at::Tensor& tensor);
// Over the group's ranks, in place.
Exchange reduce_mean(ProcessGroup& group, const at::Tensor& buffer);

}  // namespace tandem
