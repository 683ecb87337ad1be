#pragma once

#include <torch/torch.h>

#include <functional>

namespace tandem::nn {

// A BatchNorm2d inside a network, whose computation can be replaced: by that of all ranks' batches together.
class NetworkBatchNorm2dImpl : public torch::nn::BatchNorm2dImpl {
 public:
  using Compute = std::function<at::Tensor(torch::nn::BatchNorm2dImpl& norm, const at::Tensor& input)>;

  using torch::nn::BatchNorm2dImpl::BatchNorm2dImpl;

  at::Tensor forward(const at::Tensor& input) {
    return compute ? compute(*this, input) : BatchNorm2dImpl::forward(input);
  }

  Compute compute;
};
TORCH_MODULE(NetworkBatchNorm2d);

}  // namespace tandem::nn
