// Types of elements as torch.save names them, without LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tandem::pickle {

enum class Dtype : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kHalf,
  kBFloat16,
  kFloat,
  kDouble,
  kComplexFloat,
  kComplexDouble,
  // Those that have no class of storages: their tensors are made by _rebuild_tensor_v3.
  kComplexHalf,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat8E5M2,
  kFloat8E4M3FN,
  kFloat8E5M2FNUZ,
  kFloat8E4M3FNUZ,
  kFloat8E8M0FNU,
};

struct DtypeFacts {
  Dtype dtype;
  std::uint8_t bytes;        // of an element
  std::string_view name;     // of torch: "float32"
  std::string_view storage;  // "FloatStorage", or nothing
};

// In the order of Dtype.
inline constexpr DtypeFacts kDtypes[] = {
    {Dtype::kBool, 1, "bool", "BoolStorage"},
    {Dtype::kUInt8, 1, "uint8", "ByteStorage"},
    {Dtype::kInt8, 1, "int8", "CharStorage"},
    {Dtype::kInt16, 2, "int16", "ShortStorage"},
    {Dtype::kInt32, 4, "int32", "IntStorage"},
    {Dtype::kInt64, 8, "int64", "LongStorage"},
    {Dtype::kHalf, 2, "float16", "HalfStorage"},
    {Dtype::kBFloat16, 2, "bfloat16", "BFloat16Storage"},
    {Dtype::kFloat, 4, "float32", "FloatStorage"},
    {Dtype::kDouble, 8, "float64", "DoubleStorage"},
    {Dtype::kComplexFloat, 8, "complex64", "ComplexFloatStorage"},
    {Dtype::kComplexDouble, 16, "complex128", "ComplexDoubleStorage"},
    {Dtype::kComplexHalf, 4, "complex32", ""},
    {Dtype::kUInt16, 2, "uint16", ""},
    {Dtype::kUInt32, 4, "uint32", ""},
    {Dtype::kUInt64, 8, "uint64", ""},
    {Dtype::kFloat8E5M2, 1, "float8_e5m2", ""},
    {Dtype::kFloat8E4M3FN, 1, "float8_e4m3fn", ""},
    {Dtype::kFloat8E5M2FNUZ, 1, "float8_e5m2fnuz", ""},
    {Dtype::kFloat8E4M3FNUZ, 1, "float8_e4m3fnuz", ""},
    {Dtype::kFloat8E8M0FNU, 1, "float8_e8m0fnu", ""},
};

constexpr const DtypeFacts& facts_of(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)];
}

static_assert([] {
  for (std::size_t i = 0; i < std::size(kDtypes); ++i) {
    if (static_cast<std::size_t>(kDtypes[i].dtype) != i) return false;
  }
  return true;
}());

}  // namespace tandem::pickle
