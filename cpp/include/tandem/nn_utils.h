// What is done to all parameters of a model at once. Source: torch.nn.utils.
#pragma once

#include <ATen/ATen.h>

#include "tandem/export.h"

namespace tandem::nn::utils {

// Nothing here is recorded for autograd or waits for a device, but where it says so. Tensors are dense; those of each
// device and dtype are computed by one foreach call. Lists may be empty. Functions throw tandem::Error
// (kInvalidArgument) naming the tensor, by its place in the list.

// The p-norm of all tensors together, p = `norm_type` (infinity is one), as a tensor of no dimensions on the device of
// the first; 0 where there are none. With error_if_nonfinite it waits for the device, and throws where the norm is
// infinite or NaN.
TANDEM_API at::Tensor get_total_norm(at::TensorList tensors, double norm_type = 2, bool error_if_nonfinite = false);

// Multiplies the gradients that the parameters have by max_norm / (total_norm + 1e-6) where that is below one.
TANDEM_API void clip_grads_with_norm_(at::TensorList parameters, double max_norm, const at::Tensor& total_norm);

// Both, of the gradients: gives the norm that they had before.
TANDEM_API at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm, double norm_type = 2,
                                      bool error_if_nonfinite = false);

// Limits the elements of the gradients to [-clip_value, clip_value].
TANDEM_API void clip_grad_value_(at::TensorList parameters, double clip_value);

// All elements, one parameter after the other, as a tensor of one dimension; recorded for autograd. The parameters are
// on one device.
TANDEM_API at::Tensor parameters_to_vector(at::TensorList parameters);

// Makes each parameter a view of its part of `vec`, which it has the dtype and device of, as Python does: writing to
// one writes to the other.
TANDEM_API void vector_to_parameters(const at::Tensor& vec, at::TensorList parameters);

}  // namespace tandem::nn::utils
