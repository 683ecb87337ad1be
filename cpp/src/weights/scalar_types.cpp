#include "weights/scalar_types.h"

#include <cstddef>
#include <iterator>

namespace tandem::weights {
namespace {

// In the order of pickle::Dtype.
constexpr at::ScalarType kTypes[] = {
    at::kBool,          at::kByte,          at::kChar,          at::kShort,           at::kInt,
    at::kLong,          at::kHalf,          at::kBFloat16,      at::kFloat,           at::kDouble,
    at::kComplexFloat,  at::kComplexDouble, at::kComplexHalf,   at::kUInt16,          at::kUInt32,
    at::kUInt64,        at::kFloat8_e5m2,   at::kFloat8_e4m3fn, at::kFloat8_e5m2fnuz, at::kFloat8_e4m3fnuz,
    at::kFloat8_e8m0fnu};
static_assert(std::size(kTypes) == std::size(pickle::kDtypes));

}  // namespace

at::ScalarType scalar_type_of(pickle::Dtype dtype) {
  return kTypes[static_cast<std::size_t>(dtype)];
}

std::optional<pickle::Dtype> dtype_of(at::ScalarType type) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == type) return pickle::kDtypes[i].dtype;
  }
  return {};
}

}  // namespace tandem::weights
