// Errors of replicas.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tandem::internal {

// "forward of replica 1 of 2, which was given Float[3, 4]", of the defined ones.
std::string place_of(int replica, int count, const char* doing, const std::vector<at::Tensor>& given);

// Rethrows the exception in flight with what replica it comes from, and what that was given. Errors of a type that a
// front end has are left alone: it says so itself.
[[noreturn]] void rethrow_from(int replica, int count, const char* doing, const std::vector<at::Tensor>& given);

}  // namespace tandem::internal
