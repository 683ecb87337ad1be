// A case's arguments, as read from cases.txt, and what unboxed calls take them as.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Scalar.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace values {

struct Value {
  bool none = false;
  at::Tensor tensor;
  std::vector<at::Tensor> tensors;
  c10::List<std::optional<at::Tensor>> optional_tensors;
  at::Scalar scalar;
  std::vector<at::Scalar> scalars;
  std::int64_t integer = 0;
  std::vector<std::int64_t> integers;
  std::vector<c10::SymInt> symbolic;
  double real = 0;
  std::vector<double> reals;
  std::string text;
  at::Generator generator;
};

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};

template <typename T>
constexpr bool unsupported = false;

// What an argument of type T of an unboxed call is. References point into the value.
template <typename T>
decltype(auto) take(Value& v) {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_same_v<T, at::Tensor&>) {
    return (v.tensor);
  } else if constexpr (std::is_same_v<Plain, at::Tensor>) {
    return at::Tensor(v.tensor);
  } else if constexpr (std::is_same_v<Plain, at::TensorList>) {
    return at::TensorList(v.tensors);
  } else if constexpr (std::is_same_v<Plain, at::ITensorListRef>) {
    return at::ITensorListRef(v.tensors);
  } else if constexpr (std::is_same_v<Plain, c10::List<std::optional<at::Tensor>>>) {
    return c10::List<std::optional<at::Tensor>>(v.optional_tensors);
  } else if constexpr (std::is_same_v<Plain, at::Scalar>) {
    return at::Scalar(v.scalar);
  } else if constexpr (std::is_same_v<Plain, at::ArrayRef<at::Scalar>>) {
    return at::ArrayRef<at::Scalar>(v.scalars);
  } else if constexpr (std::is_same_v<Plain, bool>) {
    return v.integer != 0;
  } else if constexpr (std::is_same_v<Plain, std::int64_t>) {
    return std::int64_t{v.integer};
  } else if constexpr (std::is_same_v<Plain, c10::SymInt>) {
    return c10::SymInt(v.integer);
  } else if constexpr (std::is_same_v<Plain, at::IntArrayRef>) {
    return at::IntArrayRef(v.integers);
  } else if constexpr (std::is_same_v<Plain, c10::SymIntArrayRef>) {
    return c10::SymIntArrayRef(v.symbolic);
  } else if constexpr (std::is_same_v<Plain, at::OptionalIntArrayRef>) {
    return v.none ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(at::IntArrayRef(v.integers));
  } else if constexpr (std::is_same_v<Plain, at::OptionalSymIntArrayRef>) {
    return v.none ? at::OptionalSymIntArrayRef() : at::OptionalSymIntArrayRef(c10::SymIntArrayRef(v.symbolic));
  } else if constexpr (std::is_same_v<Plain, double>) {
    return double{v.real};
  } else if constexpr (std::is_same_v<Plain, at::ArrayRef<double>>) {
    return at::ArrayRef<double>(v.reals);
  } else if constexpr (std::is_same_v<Plain, std::string_view>) {
    return std::string_view(v.text);
  } else if constexpr (std::is_same_v<Plain, at::ScalarType>) {
    return static_cast<at::ScalarType>(v.integer);
  } else if constexpr (std::is_same_v<Plain, at::Layout>) {
    return static_cast<at::Layout>(v.integer);
  } else if constexpr (std::is_same_v<Plain, at::MemoryFormat>) {
    return static_cast<at::MemoryFormat>(v.integer);
  } else if constexpr (std::is_same_v<Plain, at::Device>) {
    return at::Device(v.text);
  } else if constexpr (std::is_same_v<Plain, std::optional<at::Generator>>) {
    return v.none ? std::optional<at::Generator>() : std::optional<at::Generator>(v.generator);
  } else if constexpr (is_optional<Plain>::value) {
    return v.none ? Plain() : Plain(take<typename Plain::value_type>(v));
  } else {
    static_assert(unsupported<Plain>, "a type of argument that no case has");
  }
}

// A result of any kind, as the lines that results.txt has for it.
std::string describe(const at::Tensor& tensor);
std::string describe(const std::vector<at::Tensor>& tensors);
std::string describe(bool value);
std::string describe(std::int64_t value);
std::string describe(at::ScalarType value);

template <typename... T>
std::string describe(const std::tuple<T...>& results) {
  return std::apply([](const auto&... each) { return (describe(each) + ... + std::string()); }, results);
}

using Runner = std::string (*)(std::vector<Value>&);

template <typename Op, typename Schema>
struct Unboxed;

// at::NAME(…) is an inline call of at::_ops::NAME_OVERLOAD::call: what is called here.
template <typename Op, typename Result, typename... Arguments>
struct Unboxed<Op, Result(Arguments...)> {
  static std::string run(std::vector<Value>& given) { return run(given, std::index_sequence_for<Arguments...>()); }
  template <std::size_t... I>
  static std::string run(std::vector<Value>& given, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<Result>) {
      Op::call(take<Arguments>(given.at(I))...);
      return "";
    } else {
      return describe(Op::call(take<Arguments>(given.at(I))...));
    }
  }
};

template <typename Op>
constexpr Runner unboxed = &Unboxed<Op, typename Op::schema>::run;

struct Entry {
  const char* key;
  Runner run;
};

// Each generated file has a part of the table.
void add(const Entry* entries, std::size_t count);

}  // namespace values
