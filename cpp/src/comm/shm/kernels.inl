// The kernels, compiled once for each instruction set into a namespace of its own. Everything but find_kernel() has
// internal linkage and nothing of the standard library is used that is code: the linker keeps one copy of an inline
// function, which might be the one for a better processor than there is.
#include <cstddef>
#include <cstdint>

#include "comm/shm/kernels.h"

namespace tandem::shm::TANDEM_SHM_KERNELS {
namespace {

template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// --- elements: how they lie in memory, what they are computed in, and the way between, a block at a time

template <typename T>
struct Plain {
  using Memory = T;
  using Value = T;
};

struct BFloat16 {
  using Memory = std::uint16_t;
  using Value = float;

  static void widen(const Memory* from, float* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = bits<float>(static_cast<std::uint32_t>(from[i]) << 16);
  }
  static void narrow(const float* from, Memory* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = bits<std::uint32_t>(from[i]);
      const std::uint32_t rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
      const bool nan = (x & 0x7fffffff) > 0x7f800000;
      to[i] = static_cast<Memory>(nan ? 0x7fc0 : rounded);
    }
  }
};

struct Float16 {
  using Memory = std::uint16_t;
  using Value = float;

  static void widen(const Memory* from, float* to, std::size_t count) {
    std::size_t i = 0;
#ifdef TANDEM_SHM_F16C
    for (; i + 8 <= count; i += 8) {
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
#endif
    for (; i < count; ++i) {
      const std::uint32_t sign = static_cast<std::uint32_t>(from[i] & 0x8000) << 16;
      const std::uint32_t magnitude = static_cast<std::uint32_t>(from[i] & 0x7fff) << 13;
      // A float with the same fields, times 2^112 for the other exponent bias; subnormals come out right too.
      const auto finite = bits<std::uint32_t>(bits<float>(magnitude) * bits<float>(std::uint32_t{0x77800000}));
      to[i] = bits<float>(sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite));
    }
  }
  static void narrow(const float* from, Memory* to, std::size_t count) {
    std::size_t i = 0;
#ifdef TANDEM_SHM_F16C
    for (; i + 8 <= count; i += 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    for (; i < count; ++i) {
      const auto all = bits<std::uint32_t>(from[i]);
      const std::uint32_t sign = (all >> 16) & 0x8000;
      const std::uint32_t x = all & 0x7fffffff;
      // Another exponent bias, then round to nearest even; what overflows becomes infinity by its carry.
      const std::uint32_t biased = x - 0x38000000;
      const std::uint32_t normal = (biased + 0xfff + ((biased >> 13) & 1)) >> 13;
      // Below 2^-14: the unit of 0.5f is that of a subnormal half, so that adding rounds.
      const std::uint32_t small = bits<std::uint32_t>(bits<float>(x) + 0.5f) - 0x3f000000;
      std::uint32_t result = x < 0x38800000 ? small : normal;
      result = x >= 0x47800000 ? 0x7c00 : result;
      result = x > 0x7f800000 ? 0x7e00 | ((x >> 13) & 0x3ff) : result;
      to[i] = static_cast<Memory>(sign | result);
    }
  }
};

// --- operations on values

template <typename T>
constexpr bool kIsFloat = static_cast<T>(0.5) != 0;

template <typename T>
struct Wrapping {
  using Type = T;
};
template <>
struct Wrapping<std::int8_t> {
  using Type = std::uint8_t;
};
template <>
struct Wrapping<std::int16_t> {
  using Type = std::uint16_t;
};
template <>
struct Wrapping<std::int32_t> {
  using Type = std::uint32_t;
};
template <>
struct Wrapping<std::int64_t> {
  using Type = std::uint64_t;
};

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Product {
  template <typename T>
  static T apply(T a, T b) {
    using W = typename Wrapping<T>::Type;
    // Two uint16 would be multiplied as int, which may overflow.
    if constexpr (sizeof(T) < sizeof(int)) {
      return static_cast<T>(std::uint32_t{static_cast<W>(a)} * std::uint32_t{static_cast<W>(b)});
    } else {
      return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    }
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsFloat<T>) return a < b || a != a ? a : b;
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kIsFloat<T>) return a > b || a != a ? a : b;
    return a > b ? a : b;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// --- loops

constexpr std::size_t kBlock = 1024;  // values that stay in the first cache

// Where two of the pointers are the same, each element is read before it is written: no iteration depends on another.
template <typename Op, typename T>
void combine(const T* a, const T* b, T* out, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = Op::apply(a[i], b[i]);
}

// In one pass over memory, since both may be in no cache.
template <typename Op, typename T>
void combine_and_divide(const T* a, const T* b, T* out, std::size_t count, T divisor) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = Op::apply(a[i], b[i]) / divisor;
}

template <typename T>
void scale(T* values, std::size_t count, T factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(values[i] * factor);
}

template <typename T>
void divide(T* values, std::size_t count, int by) {
  if constexpr (kIsFloat<T>) {
    const T divisor = static_cast<T>(by);
    for (std::size_t i = 0; i < count; ++i) values[i] /= divisor;
  } else if constexpr (static_cast<T>(-1) < 0) {
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<std::int64_t>(values[i]) / by);
  } else {
    const auto divisor = static_cast<std::uint64_t>(by);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(values[i] / divisor);
  }
}

template <typename Type>
void load(const void* from, std::size_t at, typename Type::Value* to, std::size_t count) {
  const auto* source = static_cast<const typename Type::Memory*>(from) + at;
  if constexpr (sizeof(typename Type::Memory) == sizeof(typename Type::Value)) {
    __builtin_memcpy(to, source, count * sizeof *to);
  } else {
    Type::widen(source, to, count);
  }
}

template <typename Type>
void store(const typename Type::Value* from, void* to, std::size_t at, std::size_t count) {
  auto* target = static_cast<typename Type::Memory*>(to) + at;
  if constexpr (sizeof(typename Type::Memory) == sizeof(typename Type::Value)) {
    __builtin_memcpy(target, from, count * sizeof *from);
  } else {
    Type::narrow(from, target, count);
  }
}

template <typename Type, typename Op, bool kDivides, bool kScales>
void reduce(void* out, const void* const* in, int n, std::size_t count, const double* factors) {
  using Value = typename Type::Value;
  constexpr bool kInPlace = sizeof(typename Type::Memory) == sizeof(Value) && !kDivides && !kScales;
  if constexpr (kInPlace) {
    if (n == 2) {
      return combine<Op>(static_cast<const Value*>(in[0]), static_cast<const Value*>(in[1]), static_cast<Value*>(out),
                         count);
    }
  }
  [[maybe_unused]] int divisor = 0;
  if constexpr (kDivides) {
    for (int k = 0; k < n; ++k) divisor += static_cast<int>(factors[k]);
  }
  if constexpr (kDivides && kIsFloat<Value> && sizeof(typename Type::Memory) == sizeof(Value)) {
    if (n == 2) {
      return combine_and_divide<Op>(static_cast<const Value*>(in[0]), static_cast<const Value*>(in[1]),
                                    static_cast<Value*>(out), count, static_cast<Value>(divisor));
    }
  }
  alignas(64) Value total[kBlock];
  alignas(64) Value next[kBlock];
  for (std::size_t at = 0; at < count; at += kBlock) {
    const std::size_t size = count - at < kBlock ? count - at : kBlock;
    load<Type>(in[0], at, total, size);
    if constexpr (kScales) scale(total, size, static_cast<Value>(factors[0]));
    for (int k = 1; k < n; ++k) {
      if constexpr (kInPlace) {
        combine<Op>(total, static_cast<const Value*>(in[k]) + at, total, size);
      } else {
        load<Type>(in[k], at, next, size);
        if constexpr (kScales) scale(next, size, static_cast<Value>(factors[k]));
        combine<Op>(total, next, total, size);
      }
    }
    if constexpr (kDivides) divide(total, size, divisor);
    store<Type>(total, out, at, size);
  }
}

template <typename Type>
Kernel of_numbers(Operation operation) {
  using Value = typename Type::Value;
  switch (operation) {
    case Operation::kSum:
      return reduce<Type, Sum, false, false>;
    case Operation::kAverage:
      return reduce<Type, Sum, true, false>;
    case Operation::kProduct:
      return reduce<Type, Product, false, false>;
    case Operation::kMin:
      return reduce<Type, Min, false, false>;
    case Operation::kMax:
      return reduce<Type, Max, false, false>;
    default:
      break;
  }
  if constexpr (kIsFloat<Value>) {
    if (operation == Operation::kScaledSum) return reduce<Type, Sum, false, true>;
  } else {
    if (operation == Operation::kBitAnd) return reduce<Type, And, false, false>;
    if (operation == Operation::kBitOr) return reduce<Type, Or, false, false>;
    if (operation == Operation::kBitXor) return reduce<Type, Xor, false, false>;
  }
  return nullptr;
}

Kernel of_bool(Operation operation) {
  using Type = Plain<std::uint8_t>;
  switch (operation) {
    case Operation::kSum:
    case Operation::kMax:
    case Operation::kBitOr:
      return reduce<Type, Or, false, false>;
    case Operation::kProduct:
    case Operation::kMin:
    case Operation::kBitAnd:
      return reduce<Type, And, false, false>;
    case Operation::kBitXor:
      return reduce<Type, Xor, false, false>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel find_kernel(Element element, Operation operation) {
  switch (element) {
    case Element::kU8:
      return of_numbers<Plain<std::uint8_t>>(operation);
    case Element::kI8:
      return of_numbers<Plain<std::int8_t>>(operation);
    case Element::kI16:
      return of_numbers<Plain<std::int16_t>>(operation);
    case Element::kI32:
      return of_numbers<Plain<std::int32_t>>(operation);
    case Element::kI64:
      return of_numbers<Plain<std::int64_t>>(operation);
    case Element::kU16:
      return of_numbers<Plain<std::uint16_t>>(operation);
    case Element::kU32:
      return of_numbers<Plain<std::uint32_t>>(operation);
    case Element::kU64:
      return of_numbers<Plain<std::uint64_t>>(operation);
    case Element::kF16:
      return of_numbers<Float16>(operation);
    case Element::kBF16:
      return of_numbers<BFloat16>(operation);
    case Element::kF32:
      return of_numbers<Plain<float>>(operation);
    case Element::kF64:
      return of_numbers<Plain<double>>(operation);
    case Element::kBool:
      return of_bool(operation);
    case Element::kBytes:
      return nullptr;
  }
  return nullptr;
}

}  // namespace tandem::shm::TANDEM_SHM_KERNELS
