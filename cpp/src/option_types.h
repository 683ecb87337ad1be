// Of the C++ types that options are read into: what a front end gives for them.
#pragma once

#include <torch/torch.h>

#include <cctype>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tandem {

// An enumeration's names are empty types: torch::enumtype::kMean.
template <typename T>
inline constexpr bool kIsEnumName = std::is_empty_v<T>;

// Python's: "mean" for kMean, "batchmean" for kBatchMean, "nearest-exact" for kNearestExact.
template <typename T>
std::string enum_name() {
  std::string name = torch::enumtype::get_enum_name(std::variant<T>(T{})).substr(1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name == "nearestexact" ? "nearest-exact" : name;
}

// As OptionDescription has it.
inline std::string option_type(bool) {
  return "bool";
}
inline std::string option_type(std::int64_t) {
  return "int";
}
inline std::string option_type(int) {
  return "int";
}
inline std::string option_type(double) {
  return "float";
}
inline std::string option_type(const std::string&) {
  return "string";
}
inline std::string option_type(const at::Tensor&) {
  return "tensor?";
}
inline std::string option_type(at::ScalarType) {
  return "dtype";
}
inline std::string option_type(const at::Generator&) {
  return "generator";
}
inline std::string option_type(const std::vector<std::int64_t>&) {
  return "int[]";
}
inline std::string option_type(const std::vector<double>&) {
  return "float[]";
}
inline std::string option_type(const std::vector<std::optional<double>>&) {
  return "float?[]";
}
template <std::size_t D, typename T>
std::string option_type(const torch::ExpandingArray<D, T>&) {
  return option_type(T{}) + "[" + std::to_string(D) + "]";
}
template <std::size_t D>
std::string option_type(const torch::ExpandingArrayWithOptionalElem<D>&) {
  return "int?[" + std::to_string(D) + "]";
}
template <typename T>
std::string option_type(const std::optional<T>& value) {
  if constexpr (std::is_default_constructible_v<T>) {
    return option_type(value.value_or(T{})) + "?";
  } else {
    return option_type(value.value_or(T(0))) + "?";
  }
}
// That of the alternative which is no name, if there is one.
template <typename... Ts>
std::string option_type(const std::variant<Ts...>&) {
  std::string type = "string";
  const auto look = [&]<typename T>(T*) {
    if constexpr (kIsEnumName<T>) {
    } else if constexpr (std::is_default_constructible_v<T>) {
      type = option_type(T{});
    } else {
      type = option_type(T(0));
    }
  };
  (look(static_cast<Ts*>(nullptr)), ...);
  return type;
}

template <typename T>
at::IValue option_value(const T& value) {
  return value;
}
inline at::IValue option_value(const at::Tensor& value) {
  return value.defined() ? at::IValue(value) : at::IValue();
}
inline at::IValue option_value(at::ScalarType value) {
  return static_cast<std::int64_t>(value);
}
template <std::size_t D, typename T>
at::IValue option_value(const torch::ExpandingArray<D, T>& value) {
  return std::vector<T>(value->begin(), value->end());
}
template <std::size_t D>
at::IValue option_value(const torch::ExpandingArrayWithOptionalElem<D>& value) {
  std::vector<std::int64_t> sizes;
  for (const auto& one : *value) sizes.push_back(one.value_or(-1));
  return sizes;
}
template <typename T>
at::IValue option_value(const std::optional<T>& value) {
  return value ? option_value(*value) : at::IValue();
}
template <typename... Ts>
at::IValue option_value(const std::variant<Ts...>& value) {
  return std::visit(
      []<typename T>(const T& held) -> at::IValue {
        if constexpr (kIsEnumName<T>) {
          return enum_name<T>();
        } else {
          return option_value(held);
        }
      },
      value);
}

// Names that stand for a value.
template <typename T>
std::vector<std::string> option_choices(const T&) {
  return {};
}
template <typename... Ts>
std::vector<std::string> option_choices(const std::variant<Ts...>&) {
  std::vector<std::string> names;
  const auto add = [&]<typename T>(T*) {
    if constexpr (kIsEnumName<T>) names.push_back(enum_name<T>());
  };
  (add(static_cast<Ts*>(nullptr)), ...);
  return names;
}

}  // namespace tandem
