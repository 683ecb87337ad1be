// The graph of replicas on GPUs: one over all devices, for LibTorch's engine has a thread for each GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace tandem::internal {

// Has the gradients of each replica's own tensors, in the order of `originals`, summed in the order of replicas and
// passed on. What does not require a gradient is left out.
void connect_replicas(const std::vector<at::Tensor>& originals, const std::vector<std::vector<at::Tensor>>& own);

// Keeps `kept` until the graph that leads to `outputs` is gone.
void keep_with(std::vector<at::Tensor>& outputs, std::shared_ptr<void> kept);

// Undoes connect_replicas(), for the next forward.
void disconnect(const at::Tensor& own);

}  // namespace tandem::internal
