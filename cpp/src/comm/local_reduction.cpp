#include "comm/local_reduction.h"

#include <ATen/ATen.h>

#include "tandem/error.h"

namespace tandem {
namespace {

template <typename Combine>
at::Tensor fold(const at::Tensor& rows, Combine&& combine) {
  at::Tensor result = rows.select(0, 0).clone();
  for (std::int64_t i = 1; i < rows.size(0); ++i) combine(result, rows.select(0, i));
  return result;
}

at::Tensor reduced(const at::Tensor& rows, const c10d::ReduceOp& op) {
  const at::ScalarType dtype = rows.scalar_type();
  const bool logical = dtype == at::kBool;
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
      return logical ? rows.any(0) : rows.sum(0, /*keepdim=*/false, dtype);
    case c10d::ReduceOp::PRODUCT:
      return logical ? rows.all(0) : rows.prod(0, /*keepdim=*/false, dtype);
    case c10d::ReduceOp::MIN:
      return rows.amin(0);
    case c10d::ReduceOp::MAX:
      return rows.amax(0);
    case c10d::ReduceOp::BAND:
      return fold(rows, [](at::Tensor& a, const at::Tensor& b) { a.bitwise_and_(b); });
    case c10d::ReduceOp::BOR:
      return fold(rows, [](at::Tensor& a, const at::Tensor& b) { a.bitwise_or_(b); });
    case c10d::ReduceOp::BXOR:
      return fold(rows, [](at::Tensor& a, const at::Tensor& b) { a.bitwise_xor_(b); });
    default:
      throw Error(ErrorCode::kUnsupported, "reduce_scatter has no " + name_of(op) + " on this backend");
  }
}

}  // namespace

void reduce_rows(const at::Tensor& rows, const at::Tensor& output, const c10d::ReduceOp& op) {
  at::NoGradGuard no_grad;
  at::Tensor flat = output.detach().as_strided({output.numel()}, {1});
  flat.copy_(reduced(rows, op));
  if (op == c10d::ReduceOp::AVG) divide({flat}, static_cast<int>(rows.size(0)));
}

void divide(const std::vector<at::Tensor>& tensors, int ranks) {
  at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : tensors) {
    if (at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) {
      tensor.detach().div_(ranks, "trunc");
    } else {
      tensor.detach().div_(ranks);
    }
  }
}

std::string name_of(const c10d::ReduceOp& op) {
  constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"};
  const std::size_t number = op.op_;
  return number < std::size(kNames) ? kNames[number] : "reduce operation " + std::to_string(number);
}

}  // namespace tandem
