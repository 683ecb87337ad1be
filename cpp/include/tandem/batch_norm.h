// Running statistics of batch normalization.
#pragma once

#include <torch/nn/module.h>

#include <optional>

#include "tandem/export.h"

namespace tandem::nn {

// How much the running statistics of a BatchNorm1d, 2d or 3d take of each batch; unset: they are the means over all
// batches since num_batches_tracked was 0, as torch.optim.swa_utils.update_bn wants them. Of a network, of all in it.
// Gives what it was, of the first one. Throws tandem::Error: kUnsupported for modules without any, kInvalidArgument for
// a number that is not from 0 to 1.
TANDEM_API std::optional<double> set_batch_norm_momentum(torch::nn::Module& module, std::optional<double> momentum);

}  // namespace tandem::nn
