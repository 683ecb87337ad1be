#include "comm/tensors.h"

#include <ATen/ATen.h>

#include "comm/collective.h"
#include "comm/local_reduction.h"

namespace tandem {
namespace {

// Gloo's arithmetic.
bool gloo_reduces(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
    case at::kChar:
    case at::kByte:
    case at::kBool:
    case at::kInt:
    case at::kLong:
      return true;
    default:
      return false;
  }
}

bool is_bitwise(const c10d::ReduceOp& op) {
  return op == c10d::ReduceOp::BAND || op == c10d::ReduceOp::BOR || op == c10d::ReduceOp::BXOR;
}

c10d::ReduceOp to_native(ReduceOp op) {
  const int number = static_cast<int>(op);
  if (number < 0 || number > static_cast<int>(ReduceOp::kBxor)) {
    throw Error(ErrorCode::kInvalidArgument, "there is no reduce operation " + std::to_string(number));
  }
  return c10d::ReduceOp(static_cast<c10d::ReduceOp::RedOpType>(number));  // LibTorch's numbers
}

void check_complex(const at::Tensor& tensor, const c10d::ReduceOp& op, const char* collective) {
  if (op == c10d::ReduceOp::SUM || op == c10d::ReduceOp::AVG) return;
  refuse(collective, describe(tensor) + " has no " + name_of(op) + ": complex numbers take SUM and AVG");
}

void check_operation(const at::Tensor& tensor, const c10d::ReduceOp& op, const char* collective) {
  if (is_bitwise(op) && !at::isIntegralType(tensor.scalar_type(), true)) {
    refuse(collective, describe(tensor) + " has no " + name_of(op) + ": bitwise operations take whole numbers");
  }
  if (op == c10d::ReduceOp::AVG && tensor.scalar_type() == at::kBool) {
    refuse(collective, describe(tensor) + " has no AVG; convert it to a float type");
  }
}

// Autograd is not told of what a collective writes. Detaching takes as long as a small all-reduce.
at::Tensor without_graph(const at::Tensor& tensor) {
  return tensor.requires_grad() ? tensor.detach() : tensor;
}

// Gloo has bytes for bool, of which there would be sums of 2.
c10d::ReduceOp logical(const c10d::ReduceOp& op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::BOR:
      return c10d::ReduceOp::MAX;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::BAND:
      return c10d::ReduceOp::MIN;
    default:
      return op;
  }
}

}  // namespace

void refuse(const std::string& collective, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, collective + ": " + reason);
}

void check_dense(const at::Tensor& tensor, const std::string& collective) {
  if (!tensor.defined()) refuse(collective, "the tensor is undefined");
  if (tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense()) return;
  const std::string strides =
      tensor.layout() == at::kStrided ? c10::str(" with strides ", tensor.strides()) : c10::str(" ", tensor.layout());
  refuse(collective, describe(tensor) + strides + " is not dense; pass tensor.contiguous() and copy the result back");
}

Reduction to_reduce(const at::Tensor& tensor, ReduceOp op, const char* collective, bool few_types) {
  check_dense(tensor, collective);
  const c10d::ReduceOp native = to_native(op);
  if (tensor.is_complex()) {
    check_complex(tensor, native, collective);
    return to_reduce(at::view_as_real(tensor.detach()), op, collective, few_types);
  }
  check_operation(tensor, native, collective);
  if (!few_types) return {without_graph(tensor), native};
  if (!gloo_reduces(tensor.scalar_type())) {
    refuse(collective, describe(tensor) + " cannot be reduced by gloo; convert it to int32, int64 or a float type");
  }
  return {without_graph(tensor), tensor.scalar_type() == at::kBool ? logical(native) : native};
}

c10d::ReduceOp to_reduce_locally(const at::Tensor& tensor, ReduceOp op, const char* collective) {
  const c10d::ReduceOp native = to_native(op);
  if (tensor.is_complex()) {
    check_complex(tensor, native, collective);
  } else if (!gloo_reduces(tensor.scalar_type()) && tensor.scalar_type() != at::kShort) {
    refuse(collective, describe(tensor) + " cannot be reduced; convert it to int32, int64 or a float type");
  }
  check_operation(tensor, native, collective);
  return native;
}

at::Tensor to_move(const at::Tensor& tensor, bool few_types) {
  if (!few_types || gloo_reduces(tensor.scalar_type())) return without_graph(tensor);
  return tensor.detach().as_strided({tensor.numel()}, {1}).view(at::kByte);
}

}  // namespace tandem
