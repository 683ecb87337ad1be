#include "comm/shm/checks.h"

#include <c10/util/StringUtil.h>

#include "comm/collective.h"
#include "tandem/error.h"

namespace tandem::shm {

void refuse(CallName call, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, std::string(call.text) + ": " + reason);
}

void check_place(CallName call, const at::Tensor& tensor) {
  if (!tensor.defined()) refuse(call, "a tensor is undefined");
  if (!tensor.device().is_cpu()) {
    refuse(call, "backend shm takes tensors on the CPU, this is " + describe(tensor));
  }
  if (tensor.layout() != at::kStrided) {
    refuse(call, "backend shm takes dense tensors, this is " + describe(tensor) + " with layout " +
                     c10::str(tensor.layout()));
  }
}

void check_dense(CallName call, const at::Tensor& tensor) {
  check_place(call, tensor);
  if (tensor.is_non_overlapping_and_dense()) return;
  refuse(call, describe(tensor) + " with strides " + c10::str(tensor.strides()) +
                   " is not dense; pass tensor.contiguous() and copy the result back");
}

void check_contiguous(CallName call, const at::Tensor& tensor) {
  check_place(call, tensor);
  if (tensor.is_contiguous()) return;
  refuse(call, describe(tensor) + " with strides " + c10::str(tensor.strides()) +
                   " is not contiguous; pass tensor.contiguous() and copy the result back");
}

const at::Tensor& only(CallName call, const std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1) {
    refuse(call, "got " + std::to_string(tensors.size()) + " tensors; a rank of backend shm gives one");
  }
  return tensors.front();
}

}  // namespace tandem::shm
