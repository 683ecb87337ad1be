// Compiled with -O3: these loops are what a loader's threads do.
#include "data/convert.h"

#include <cstring>
#include <type_traits>

namespace tandem {
namespace {

template <typename From>
void to_float(const std::uint8_t* from, void* to, std::size_t count, float multiply, float add) {
  auto* out = static_cast<float*>(to);
  for (std::size_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, from + i * sizeof x, sizeof x);
    // Wide types keep their precision until the end.
    using Wide = std::conditional_t<(sizeof(From) > 2 && !std::is_same_v<From, float>), double, float>;
    out[i] = static_cast<float>(static_cast<Wide>(x) * static_cast<Wide>(multiply) + static_cast<Wide>(add));
  }
}

template <typename From>
void to_int64(const std::uint8_t* from, void* to, std::size_t count, float, float) {
  auto* out = static_cast<std::int64_t*>(to);
  for (std::size_t i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, from + i * sizeof x, sizeof x);
    out[i] = static_cast<std::int64_t>(x);
  }
}

}  // namespace

Convert find_conversion_to_float(Element from) {
  switch (from) {
    case Element::kUInt8:
    case Element::kBool:
      return to_float<std::uint8_t>;
    case Element::kInt8:
      return to_float<std::int8_t>;
    case Element::kInt16:
      return to_float<std::int16_t>;
    case Element::kInt32:
      return to_float<std::int32_t>;
    case Element::kInt64:
      return to_float<std::int64_t>;
    case Element::kFloat32:
      return to_float<float>;
    case Element::kFloat64:
      return to_float<double>;
    case Element::kUInt16:
      return to_float<std::uint16_t>;
    case Element::kUInt32:
      return to_float<std::uint32_t>;
  }
  return nullptr;
}

Convert find_conversion_to_int64(Element from) {
  switch (from) {
    case Element::kUInt8:
    case Element::kBool:
      return to_int64<std::uint8_t>;
    case Element::kInt8:
      return to_int64<std::int8_t>;
    case Element::kInt16:
      return to_int64<std::int16_t>;
    case Element::kInt32:
      return to_int64<std::int32_t>;
    case Element::kInt64:
      return to_int64<std::int64_t>;
    case Element::kUInt16:
      return to_int64<std::uint16_t>;
    case Element::kUInt32:
      return to_int64<std::uint32_t>;
    default:
      return nullptr;
  }
}

}  // namespace tandem
