// The arithmetic of reductions, against plain loops, for each instruction set.
#include "comm/shm/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tandem::shm {
namespace {

using Find = Kernel (*)(Element, Operation);

struct Variant {
  const char* name;
  Find find;
};

std::vector<Variant> variants() {
  std::vector<Variant> list = {{"baseline", baseline::find_kernel}, {"best", find_kernel}};
  return list;
}

float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
std::uint32_t bits_of(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}

// float16 to nearest even by exact arithmetic: finds the neighbours among all halves.
double value_of_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 0x3ff;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t nearest_half(double value) {
  if (std::isnan(value)) return 0x7e00;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  int low = 0, high = 0x7bff;  // positive halves are in the order of their bits
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (value_of_half(static_cast<std::uint16_t>(middle)) <= magnitude) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double below = value_of_half(static_cast<std::uint16_t>(low));
  const double above = low == 0x7bff ? 65536 : value_of_half(static_cast<std::uint16_t>(low + 1));
  const bool up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && (low & 1));
  return static_cast<std::uint16_t>(sign | (low + up));
}

template <typename T>
std::vector<T> run(Kernel kernel, const std::vector<std::vector<T>>& inputs, const std::vector<double>& factors) {
  std::vector<const void*> pointers;
  for (const auto& input : inputs) pointers.push_back(input.data());
  std::vector<T> out(inputs[0].size());
  kernel(out.data(), pointers.data(), static_cast<int>(inputs.size()), out.size(), factors.data());
  return out;
}

TEST(Kernels, EveryHalfSurvivesTheWayThroughFloat) {
  std::vector<std::uint16_t> all(65536), zero(65536, 0x8000);  // x + -0 is x
  for (int i = 0; i < 65536; ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const auto& [name, find] : variants()) {
    const auto out = run<std::uint16_t>(find(Element::kF16, Operation::kSum), {all, zero}, {1, 1});
    for (int i = 0; i < 65536; ++i) {
      if (std::isnan(value_of_half(all[i]))) {
        EXPECT_TRUE(std::isnan(value_of_half(out[i]))) << name << " " << i;
      } else {
        EXPECT_EQ(out[i], i) << name;
      }
    }
  }
}

TEST(Kernels, HalvesAreRoundedOnceToNearestEven) {
  std::mt19937 random(1);
  std::vector<std::vector<std::uint16_t>> inputs(3, std::vector<std::uint16_t>(40001));
  for (auto& input : inputs) {
    for (auto& half : input) {
      do {
        half = static_cast<std::uint16_t>(random());
      } while ((half & 0x7c00) == 0x7c00);
    }
  }
  for (const auto& [name, find] : variants()) {
    const auto out = run<std::uint16_t>(find(Element::kF16, Operation::kSum), inputs, {1, 1, 1});
    for (std::size_t i = 0; i < out.size(); ++i) {
      float sum = static_cast<float>(value_of_half(inputs[0][i])) + static_cast<float>(value_of_half(inputs[1][i]));
      sum += static_cast<float>(value_of_half(inputs[2][i]));
      ASSERT_EQ(out[i], nearest_half(sum)) << name << " element " << i << " of " << out.size();
    }
  }
}

TEST(Kernels, BFloat16IsRoundedOnceToNearestEven) {
  std::mt19937 random(2);
  std::vector<std::vector<std::uint16_t>> inputs(3, std::vector<std::uint16_t>(10001));
  for (auto& input : inputs) {
    for (auto& value : input) value = static_cast<std::uint16_t>(0x3f00 + random() % 0x200);  // 0.5 to 8
  }
  for (const auto& [name, find] : variants()) {
    const auto out = run<std::uint16_t>(find(Element::kBF16, Operation::kAverage), inputs, {1, 1, 1});
    for (std::size_t i = 0; i < out.size(); ++i) {
      float sum = 0;
      for (const auto& input : inputs) sum += float_of(static_cast<std::uint32_t>(input[i]) << 16);
      const std::uint32_t bits = bits_of(sum / 3);
      const std::uint32_t rest = bits & 0xffff;
      const std::uint32_t kept = bits >> 16;
      const bool up = rest > 0x8000 || (rest == 0x8000 && (kept & 1));
      ASSERT_EQ(out[i], static_cast<std::uint16_t>(kept + up)) << name << " element " << i;
    }
  }
}

template <typename T>
void integers_wrap_around(Element element) {
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const std::vector<std::vector<T>> inputs = {{high, low, 7, 100}, {1, high, 3, 100}, {2, 0, 2, 100}};
  using U = std::make_unsigned_t<T>;
  for (const auto& [name, find] : variants()) {
    const auto sum = run<T>(find(element, Operation::kSum), inputs, {1, 1, 1});
    const auto product = run<T>(find(element, Operation::kProduct), inputs, {1, 1, 1});
    const auto average = run<T>(find(element, Operation::kAverage), inputs, {1, 1, 1});
    for (int i = 0; i < 4; ++i) {
      std::uint64_t s = 0, p = 1;
      for (const auto& input : inputs) {
        s += static_cast<std::uint64_t>(input[i]);
        p *= static_cast<std::uint64_t>(input[i]);
      }
      EXPECT_EQ(sum[i], static_cast<T>(static_cast<U>(s))) << name;
      EXPECT_EQ(product[i], static_cast<T>(static_cast<U>(p))) << name;
      EXPECT_EQ(average[i], static_cast<T>(static_cast<T>(static_cast<U>(s)) / T{3})) << name;
    }
    EXPECT_EQ(run<T>(find(element, Operation::kMin), inputs, {1, 1, 1}), (std::vector<T>{1, low, 2, 100}));
    EXPECT_EQ(run<T>(find(element, Operation::kMax), inputs, {1, 1, 1}), (std::vector<T>{high, high, 7, 100}));
    EXPECT_EQ(run<T>(find(element, Operation::kBitAnd), inputs, {1, 1, 1})[2], T{7 & 3 & 2});
    EXPECT_EQ(run<T>(find(element, Operation::kBitOr), inputs, {1, 1, 1})[2], T{7 | 3 | 2});
    EXPECT_EQ(run<T>(find(element, Operation::kBitXor), inputs, {1, 1, 1})[2], T{7 ^ 3 ^ 2});
    EXPECT_EQ(find(element, Operation::kScaledSum), nullptr);
  }
}

TEST(Kernels, IntegersWrapAround) {
  integers_wrap_around<std::int8_t>(Element::kI8);
  integers_wrap_around<std::uint8_t>(Element::kU8);
  integers_wrap_around<std::int16_t>(Element::kI16);
  integers_wrap_around<std::uint16_t>(Element::kU16);
  integers_wrap_around<std::int32_t>(Element::kI32);
  integers_wrap_around<std::uint32_t>(Element::kU32);
  integers_wrap_around<std::int64_t>(Element::kI64);
  integers_wrap_around<std::uint64_t>(Element::kU64);
}

TEST(Kernels, BoolIsAnyAndAll) {
  const std::vector<std::vector<std::uint8_t>> inputs = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  for (const auto& [name, find] : variants()) {
    const auto result = [&](Operation operation) {
      return run<std::uint8_t>(find(Element::kBool, operation), inputs, {1, 1});
    };
    const std::vector<std::uint8_t> any = {0, 1, 1, 1}, all = {0, 0, 0, 1}, odd = {0, 1, 1, 0};
    EXPECT_EQ(result(Operation::kSum), any) << name;
    EXPECT_EQ(result(Operation::kMax), any) << name;
    EXPECT_EQ(result(Operation::kProduct), all) << name;
    EXPECT_EQ(result(Operation::kMin), all) << name;
    EXPECT_EQ(result(Operation::kBitXor), odd) << name;
    EXPECT_EQ(find(Element::kBool, Operation::kAverage), nullptr) << name;
  }
}

TEST(Kernels, MinAndMaxGiveNaNWhereAnInputIs) {
  const float nan = std::nanf("");
  const std::vector<std::vector<float>> inputs = {{nan, 1, 2, 3}, {1, nan, -2, 4}, {2, 2, nan, 5}};
  for (const auto& [name, find] : variants()) {
    const auto low = run<float>(find(Element::kF32, Operation::kMin), inputs, {1, 1, 1});
    const auto high = run<float>(find(Element::kF32, Operation::kMax), inputs, {1, 1, 1});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(low[i]) && std::isnan(high[i])) << name << " " << i;
    EXPECT_EQ(low[3], 3) << name;
    EXPECT_EQ(high[3], 5) << name;
  }
}

// In every length and number of inputs, in place or not, at addresses that are no multiple of anything but the element.
TEST(Kernels, SumInOrderOfRankToTheBit) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> number(-1000, 1000);
  for (const auto& [name, find] : variants()) {
    for (const int n : {1, 2, 3, 5}) {
      for (const std::size_t count : {0, 1, 7, 33, 1024, 1025, 5000}) {
        std::vector<std::vector<float>> inputs(n, std::vector<float>(count + 1));
        std::vector<double> factors;
        for (auto& input : inputs) {
          for (auto& value : input) value = number(random);
          factors.push_back(number(random));
        }
        std::vector<const void*> pointers;
        for (const auto& input : inputs) pointers.push_back(input.data() + 1);
        std::vector<float> expected(count), scaled(count);
        for (std::size_t i = 0; i < count; ++i) {
          volatile float sum = inputs[0][i + 1];  // as the kernel rounds: after each addition
          volatile float product = inputs[0][i + 1] * static_cast<float>(factors[0]);
          for (int k = 1; k < n; ++k) {
            sum = sum + inputs[k][i + 1];
            volatile float more = inputs[k][i + 1] * static_cast<float>(factors[k]);
            product = product + more;
          }
          expected[i] = sum;
          scaled[i] = product;
        }
        std::vector<float> out(count + 1, 42);
        find(Element::kF32, Operation::kScaledSum)(out.data() + 1, pointers.data(), n, count, factors.data());
        EXPECT_TRUE(std::equal(scaled.begin(), scaled.end(), out.begin() + 1)) << name << " " << n << " " << count;
        for (int target = 0; target < n; ++target) {
          auto copy = inputs[target];
          pointers[target] = copy.data() + 1;
          find(Element::kF32, Operation::kSum)(copy.data() + 1, pointers.data(), n, count, factors.data());
          EXPECT_TRUE(std::equal(expected.begin(), expected.end(), copy.begin() + 1))
              << name << " " << n << " " << count;
          EXPECT_EQ(copy[0], inputs[target][0]);
          pointers[target] = inputs[target].data() + 1;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tandem::shm
