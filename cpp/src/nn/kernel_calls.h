// When a node of the graph may take the place of LibTorch's operators: nothing else looks at what they are called with.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tandem::nn {

// Whether calls go to autograd and kernels alone: nothing records them, or casts what they are given.
inline bool goes_to_kernels() {
  const auto local = c10::impl::tls_local_dispatch_key_set();
  // at::matmul() and others leave names out.
  const auto excluded = local.excluded_.remove(c10::DispatchKey::Named);
  return local.included_ == c10::default_included_set &&
         excluded == c10::default_excluded_set.remove(c10::DispatchKey::Named);
}

// A tensor of numbers in the CPU's memory, without a tangent.
inline bool is_plain(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided && !tensor.is_nested() &&
         tensor.scalar_type() == dtype && !tensor.is_neg() && !tensor._is_zerotensor() &&
         !tensor._fw_grad(/*level=*/0).defined();
}

}  // namespace tandem::nn
