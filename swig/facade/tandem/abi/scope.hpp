// A region that frees the tensors made in it.
#pragma once

#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// Frees, when it goes, every tensor handle that this thread made while it lived, but those kept. A Tensor object of
// this facade owns its handle, so such objects must be gone, or kept, before their scope is.
class Scope {
 public:
  Scope() { check(tdm_scope_enter(&scope_)); }
  ~Scope() { tdm_scope_exit(scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Hands `tensor` to the scope around its own, or to its owner when there is none.
  static void keep(const Tensor& tensor) { tdm_scope_keep(tensor.raw()); }

 private:
  tdm_scope* scope_ = nullptr;
};

}  // namespace tandem::abi
