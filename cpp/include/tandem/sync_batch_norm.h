// Batch normalization over the batches of all ranks.
#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <memory>

#include "tandem/export.h"
#include "tandem/nn.h"
#include "tandem/process_group.h"

namespace tandem {

// Normalizes `input` [rows, channels, …] by mean and variance of all ranks' inputs together, which may have different
// numbers of rows, also none. Running statistics, where defined, take them up, the variance unbiased. Weight and bias
// may be undefined; their gradients are this rank's part, which DistributedDataParallel averages. All ranks call it
// together, forward and backward; made of ordinary operators, it runs on every device. Blocks. Errors: kInvalidArgument
// for fewer than two values a channel over all ranks; kUnsupported for a second derivative. Source:
// torch.nn.SyncBatchNorm.
TANDEM_API at::Tensor sync_batch_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                                      const at::Tensor& running_mean, const at::Tensor& running_var, double momentum,
                                      double eps, const std::shared_ptr<ProcessGroup>& group);

// A layer of it, for inputs of any number of dimensions from two; in evaluation mode it is a BatchNorm. Holds the
// group.
class TANDEM_API SyncBatchNormImpl : public torch::nn::BatchNormImplBase<2, SyncBatchNormImpl> {
 public:
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::shared_ptr<ProcessGroup> group);
  at::Tensor forward(const at::Tensor& input);

 protected:
  void _check_input_dim(const at::Tensor& input) override;

 private:
  std::shared_ptr<ProcessGroup> group_;
};
TORCH_MODULE(SyncBatchNorm);

// A BatchNorm1d, 2d or 3d of the registry as one that is synchronized, with the same parameters and buffers, or a network
// with all that are in it; null for a module that has none, which is left to the caller. Source: SyncBatchNorm.convert_sync_batchnorm.
TANDEM_API std::unique_ptr<nn::Module> synchronize_batch_norm(std::unique_ptr<nn::Module>& module,
                                                              std::shared_ptr<ProcessGroup> group);

}  // namespace tandem
