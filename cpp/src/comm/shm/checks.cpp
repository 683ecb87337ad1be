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

void check_root(CollectiveKind collective, std::int64_t root, int size) {
  if (root >= 0 && root < size) return;
  refuse(collective, "root " + std::to_string(root) + " is no rank of a group of " + std::to_string(size));
}

void check_list(CollectiveKind collective, const std::vector<at::Tensor>& tensors, const at::Tensor& like, int size,
                const char* which, bool even) {
  if (tensors.size() != static_cast<std::size_t>(size)) {
    refuse(collective, "got " + std::to_string(tensors.size()) + " " + which + "s for a group of " +
                           std::to_string(size) + "; give one a rank");
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check_contiguous(collective, tensors[i]);
    if (tensors[i].scalar_type() == like.scalar_type() && (!even || tensors[i].numel() == like.numel())) continue;
    refuse(collective, std::string(which) + " " + std::to_string(i) + " is " + describe(tensors[i]) +
                           ", which does not fit " + describe(like));
  }
}

}  // namespace tandem::shm
