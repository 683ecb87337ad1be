// Parameters that are computed from others. Source: torch.nn.utils.parametrizations and parametrize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/nn.h"

namespace tandem::nn {

// `name` is a parameter of the module's own that its forward() reads, such as "weight" or an LSTM's "weight_hh_l0". It
// goes from the module's parameters; in its place come those that it is computed from at each forward, by Python's
// names: "parametrizations.weight.original0". Optimizers, DDP and state take these. Forwards of the module are then one
// at a time, whatever thread calls. Each throws tandem::Error: kNotFound where there is no such parameter,
// kInvalidArgument for options that make no sense and for a parameter that is parametrized already.

// weight = g · v / ‖v‖, norms taken over all dimensions but `dim`, or over all without one: original0 is g, original1
// v. Salimans and Kingma 2016.
TANDEM_API void weight_norm(Module& module, const std::string& name = "weight", std::optional<std::int64_t> dim = 0);

// weight = original / σ, its largest singular value as a matrix [dim, all others], which n_power_iterations of the
// power method at each forward in training mode approach (a tensor of one dimension is only normalized); buffers
// "parametrizations.weight.0._u" and "_v" hold the vectors. `dim` is 0 where not given, 1 of transposed convolutions.
// The vectors begin with random numbers, Python's under the same seed. Miyato et al. 2018.
TANDEM_API void spectral_norm(Module& module, const std::string& name = "weight", std::int64_t n_power_iterations = 1,
                              double eps = 1e-12, std::optional<std::int64_t> dim = {});

// Either by its name, "weight_norm" or "spectral_norm", with options as above. kNotFound for others.
TANDEM_API void parametrize(Module& module, const std::string& kind, const std::string& name,
                            const std::vector<Option>& options = {});

TANDEM_API bool is_parametrized(const Module& module, const std::string& name);

// What is computed becomes a parameter again: the tensor that was original1, or original. Throws tandem::Error
// (kNotFound) where there is no parametrization.
TANDEM_API void remove_parametrizations(Module& module, const std::string& name = "weight");

}  // namespace tandem::nn
