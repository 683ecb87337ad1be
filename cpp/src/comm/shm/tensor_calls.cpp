#include "comm/shm/tensor_calls.h"

#include <c10/util/StringUtil.h>

#include "comm/collective.h"
#include "comm/shm/checks.h"
#include "tandem/error.h"

namespace tandem::shm {
namespace {

Operation operation_of(const c10d::ReduceOp& op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
      return Operation::kSum;
    case c10d::ReduceOp::AVG:
      return Operation::kAverage;
    case c10d::ReduceOp::PRODUCT:
      return Operation::kProduct;
    case c10d::ReduceOp::MIN:
      return Operation::kMin;
    case c10d::ReduceOp::MAX:
      return Operation::kMax;
    case c10d::ReduceOp::BAND:
      return Operation::kBitAnd;
    case c10d::ReduceOp::BOR:
      return Operation::kBitOr;
    case c10d::ReduceOp::BXOR:
      return Operation::kBitXor;
    case c10d::ReduceOp::PREMUL_SUM:
      return Operation::kScaledSum;
    default:
      return Operation::kNone;
  }
}

double factor_of(const c10d::ReduceOp& op) {
  if (op != c10d::ReduceOp::PREMUL_SUM) return 1;
  const auto* given = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  if (!given) throw Error(ErrorCode::kInvalidArgument, "PREMUL_SUM has no factor; give its supplement one");
  return given->tensor_factor.defined() ? given->tensor_factor.item<double>() : given->double_factor;
}

}  // namespace

Element element_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kByte:
      return Element::kU8;
    case at::kChar:
      return Element::kI8;
    case at::kShort:
      return Element::kI16;
    case at::kInt:
      return Element::kI32;
    case at::kLong:
      return Element::kI64;
    case at::kUInt16:
      return Element::kU16;
    case at::kUInt32:
      return Element::kU32;
    case at::kUInt64:
      return Element::kU64;
    case at::kHalf:
    case at::kComplexHalf:
      return Element::kF16;
    case at::kBFloat16:
      return Element::kBF16;
    case at::kFloat:
    case at::kComplexFloat:
      return Element::kF32;
    case at::kDouble:
    case at::kComplexDouble:
      return Element::kF64;
    case at::kBool:
      return Element::kBool;
    default:
      return Element::kBytes;
  }
}

Label label_of(CollectiveKind collective, std::size_t bytes, std::int64_t root) {
  Label label;
  label.collective = collective;
  label.bytes = bytes;
  label.root = static_cast<std::int32_t>(root);
  return label;
}

Kernel kernel_for(Label* label, const at::Tensor& tensor, const c10d::ReduceOp& op) {
  label->element = element_of(tensor.scalar_type());
  label->operation = operation_of(op);
  label->factor = factor_of(op);
  const bool sums = label->operation == Operation::kSum || label->operation == Operation::kAverage ||
                    label->operation == Operation::kScaledSum;
  const Kernel kernel = find_kernel(label->element, label->operation);
  if (!kernel || (tensor.is_complex() && !sums)) {
    refuse(label->collective, describe(tensor) + " has no " + name_of(label->operation) +
                                  " in backend shm; convert it to a dtype that has, such as float32 or int64");
  }
  return kernel;
}

Pieces piece_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

std::vector<Pieces> pieces_of(const std::vector<at::Tensor>& tensors) {
  std::vector<Pieces> pieces;
  for (const at::Tensor& tensor : tensors) pieces.push_back(piece_of(tensor));
  return pieces;
}

std::vector<Pieces> equal_parts(const at::Tensor& tensor, int count) {
  std::vector<Pieces> parts;
  auto* data = static_cast<std::byte*>(tensor.mutable_data_ptr());
  const std::size_t size = tensor.nbytes() / static_cast<std::size_t>(count);
  for (int i = 0; i < count; ++i) parts.emplace_back(data + i * size, size);
  return parts;
}

std::vector<Pieces> split_parts(const at::Tensor& tensor, const std::vector<int64_t>& splits, int count,
                                const char* which) {
  const auto refuse_splits = [&](const std::string& reason) {
    refuse(CollectiveKind::kAllToAll, std::string("the ") + which + ", " + describe(tensor) + ", " + reason);
  };
  const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
  if (splits.empty()) {
    if (rows % count != 0) refuse_splits("cannot be split evenly for " + std::to_string(count) + " ranks; give splits");
    return equal_parts(tensor, count);
  }
  int64_t sum = 0;
  bool negative = false;
  for (const int64_t split : splits) {
    negative |= split < 0;
    sum += split;
  }
  if (splits.size() != static_cast<std::size_t>(count) || negative || sum != rows) {
    refuse_splits("does not fit the splits " + c10::str(c10::IntArrayRef(splits)) + ": one a rank, and " +
                  std::to_string(rows) + " rows in sum");
  }
  std::vector<Pieces> parts;
  auto* data = static_cast<std::byte*>(tensor.mutable_data_ptr());
  const std::size_t row = rows == 0 ? 0 : tensor.nbytes() / static_cast<std::size_t>(rows);
  for (const int64_t split : splits) {
    const std::size_t size = static_cast<std::size_t>(split) * row;
    parts.emplace_back(data, size);
    data += size;
  }
  return parts;
}

}  // namespace tandem::shm
