// Starting values of parameters. Source: torch.nn.init.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <optional>
#include <string>

#include "tandem/export.h"

namespace tandem::nn::init {

// All overwrite `tensor`, whether it requires grad or not, without a record for autograd, and return it. Random numbers
// come from `generator`, else from the default one of the tensor's device: seeded alike, they are Python's. They throw
// tandem::Error (kInvalidArgument) naming what does not fit.
using Generator = std::optional<at::Generator>;

// By how much a layer's weights are to be larger where its results go through `nonlinearity`: "linear", "conv1d" to
// "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu" (with negative_slope `param`, 0.01 where not given),
// "selu".
TANDEM_API double calculate_gain(const std::string& nonlinearity, std::optional<double> param = {});

// From the uniform distribution over [a, b).
TANDEM_API at::Tensor uniform_(const at::Tensor& tensor, double a = 0, double b = 1, const Generator& generator = {});
TANDEM_API at::Tensor normal_(const at::Tensor& tensor, double mean = 0, double std = 1,
                              const Generator& generator = {});
// From the normal distribution, values outside of [a, b] drawn again. Exact only where `mean` lies within two `std` of
// that range, as in Python.
TANDEM_API at::Tensor trunc_normal_(const at::Tensor& tensor, double mean = 0, double std = 1, double a = -2,
                                    double b = 2, const Generator& generator = {});
TANDEM_API at::Tensor constant_(const at::Tensor& tensor, double val);
TANDEM_API at::Tensor ones_(const at::Tensor& tensor);
TANDEM_API at::Tensor zeros_(const at::Tensor& tensor);
// The identity, of a matrix.
TANDEM_API at::Tensor eye_(const at::Tensor& tensor);
// Weights [out, in, k…] of a convolution of 1 to 3 dimensions that leaves as many channels as possible as they are, in
// each of `groups` groups of output channels.
TANDEM_API at::Tensor dirac_(const at::Tensor& tensor, std::int64_t groups = 1);

// Weights [out, in, k…]: a unit has `in` times the elements of k… inputs (fan in), and `out` times as many outputs (fan
// out). Glorot and Bengio 2010: variance gain² · 2 / (fan in + fan out).
TANDEM_API at::Tensor xavier_uniform_(const at::Tensor& tensor, double gain = 1, const Generator& generator = {});
TANDEM_API at::Tensor xavier_normal_(const at::Tensor& tensor, double gain = 1, const Generator& generator = {});
// He et al. 2015: variance gain² / fan, the gain that of `nonlinearity`, `a` the negative slope of "leaky_relu"; `mode`
// is "fan_in" or "fan_out". A tensor without elements stays as it is.
TANDEM_API at::Tensor kaiming_uniform_(const at::Tensor& tensor, double a = 0, const std::string& mode = "fan_in",
                                       const std::string& nonlinearity = "leaky_relu", const Generator& generator = {});
TANDEM_API at::Tensor kaiming_normal_(const at::Tensor& tensor, double a = 0, const std::string& mode = "fan_in",
                                      const std::string& nonlinearity = "leaky_relu", const Generator& generator = {});

// A matrix [size(0), all others] whose rows or columns are orthonormal, times `gain`. Saxe et al. 2013.
TANDEM_API at::Tensor orthogonal_(const at::Tensor& tensor, double gain = 1, const Generator& generator = {});
// A matrix of normal numbers in each of whose columns the fraction `sparsity` of elements, rounded up, is zero. Martens
// 2010. Which ones is drawn from `generator` too; Python draws that from the default generator always.
TANDEM_API at::Tensor sparse_(const at::Tensor& tensor, double sparsity, double std = 0.01,
                              const Generator& generator = {});

}  // namespace tandem::nn::init
