// Elements of a record to elements of a batch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

// LibTorch's numbers of scalar types, which a file without its headers needs here.
enum class Element : int {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat32 = 6,
  kFloat64 = 7,
  kBool = 11,
  kUInt16 = 27,
  kUInt32 = 28,
};

// Converts `count` elements at `from`, which need not be aligned, to `to`: x · multiply + add for floating output.
using Convert = void (*)(const std::uint8_t* from, void* to, std::size_t count, float multiply, float add);

// NULL when there is no such conversion.
Convert find_conversion_to_float(Element from);
Convert find_conversion_to_int64(Element from);

}  // namespace tandem
