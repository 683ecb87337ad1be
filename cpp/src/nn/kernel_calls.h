// When a node of the graph may take the place of LibTorch's operators: nothing else looks at what they are called with.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tandem::nn {

// at::matmul() and others leave names out, where LibTorch has them.
template <typename Key = c10::DispatchKey>
c10::DispatchKeySet without_names(c10::DispatchKeySet keys) {
  if constexpr (requires { Key::Named; }) return keys.remove(Key::Named);
  return keys;
}

// Whether calls go to autograd and kernels alone: nothing records them, or casts what they are given.
inline bool goes_to_kernels() {
  const auto local = c10::impl::tls_local_dispatch_key_set();
  return local.included_ == c10::default_included_set &&
         without_names(local.excluded_) == without_names(c10::default_excluded_set);
}

// A tensor of numbers in the CPU's memory, without a tangent.
inline bool is_plain(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided && !tensor.is_nested() &&
         tensor.scalar_type() == dtype && !tensor.is_neg() && !tensor._is_zerotensor() &&
         !tensor._fw_grad(/*level=*/0).defined();
}

}  // namespace tandem::nn
