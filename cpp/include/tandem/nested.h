// The tensors in what modules take and give: a tensor, or tuples, pairs, arrays, vectors, optionals, variants and maps
// of such, or a struct that says what it has:
//
//   struct Translation {
//     at::Tensor logits;
//     std::vector<at::Tensor> weights;
//     auto fields() { return std::tie(logits, weights); }
//   };
//
// A struct that is derived from such a one, and adds members, says again what it has.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <complex>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace torch {
template <typename Key, typename Value>
class OrderedDict;
namespace nn {
struct ASMoutput;
}
}  // namespace torch

namespace tandem::internal {

template <typename T>
concept HasFields = requires(T& value) { value.fields(); };

template <typename Class, typename Member>
Class class_of(Member Class::*);

// Whether its fields() is that of a base, to which it adds members: those would be passed over.
template <typename T>
constexpr bool kAddsToFields = [] {
  if constexpr (requires { class_of(&T::fields); }) {
    return sizeof(T) != sizeof(decltype(class_of(&T::fields)));
  } else {
    return false;
  }
}();

// What holds no tensor, as everybody can see.
template <typename T>
constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::monostate> ||
                        std::is_same_v<T, std::nullopt_t> || std::is_convertible_v<T, std::string_view>;
template <typename T>
constexpr bool kPlain<std::complex<T>> = true;
template <typename T>
constexpr bool kPlain<c10::complex<T>> = true;

// kTensors: whether there may be tensors in a T. kOnlyTensors: whether all in it are. kKnown: whether all tensors in it
// can be found. visit() calls `visit` with each tensor, undefined ones too; T may be const.
template <typename T>
struct Nested {
  static constexpr bool kTensors = false, kOnlyTensors = false, kKnown = kPlain<T>;
  template <typename Value, typename Visit>
  static void visit(Value&, Visit&) {}
};

template <>
struct Nested<at::Tensor> {
  static constexpr bool kTensors = true, kOnlyTensors = true, kKnown = true;
  template <typename Value, typename Visit>
  static void visit(Value& tensor, Visit& visit) {
    visit(tensor);
  }
};

template <typename... T>
struct NestedAll {
  static constexpr bool kTensors = (Nested<T>::kTensors || ...), kOnlyTensors = (Nested<T>::kOnlyTensors && ...),
                        kKnown = (Nested<T>::kKnown && ...);
};

template <typename T>
struct NestedRow : NestedAll<T> {
  template <typename Row, typename Visit>
  static void visit(Row& row, Visit& visit) {
    if constexpr (Nested<T>::kTensors) {
      for (auto& element : row) Nested<T>::visit(element, visit);
    }
  }
};
template <typename T, typename A>
struct Nested<std::vector<T, A>> : NestedRow<T> {};
template <typename T, typename A>
struct Nested<std::deque<T, A>> : NestedRow<T> {};
template <typename T, typename A>
struct Nested<std::list<T, A>> : NestedRow<T> {};
template <typename T, std::size_t kSize>
struct Nested<std::array<T, kSize>> : NestedRow<T> {};

template <typename T>
struct Nested<std::optional<T>> : NestedAll<T> {
  template <typename Value, typename Visit>
  static void visit(Value& value, Visit& visit) {
    if (value) Nested<T>::visit(*value, visit);
  }
};

template <typename... T>
struct Nested<std::variant<T...>> : NestedAll<T...> {
  template <typename Value, typename Visit>
  static void visit(Value& value, Visit& visit) {
    std::visit([&](auto& held) { Nested<std::remove_cvref_t<decltype(held)>>::visit(held, visit); }, value);
  }
};

template <typename K, typename T, typename... More>
struct Nested<std::map<K, T, More...>> : NestedAll<T> {
  template <typename Map, typename Visit>
  static void visit(Map& map, Visit& visit) {
    for (auto& [key, value] : map) Nested<T>::visit(value, visit);
  }
};
template <typename K, typename T, typename... More>
struct Nested<std::unordered_map<K, T, More...>> : NestedAll<T> {
  template <typename Map, typename Visit>
  static void visit(Map& map, Visit& visit) {
    if constexpr (Nested<T>::kTensors) {
      // By key: the same order in every copy.
      std::map<K, decltype(&map.begin()->second)> sorted;
      for (auto& [key, value] : map) sorted.emplace(key, &value);
      for (auto& [key, value] : sorted) Nested<T>::visit(*value, visit);
    }
  }
};
template <typename K, typename T>
struct Nested<torch::OrderedDict<K, T>> : NestedAll<T> {
  template <typename Dictionary, typename Visit>
  static void visit(Dictionary& dictionary, Visit& visit) {
    for (auto& item : dictionary) Nested<T>::visit(item.value(), visit);
  }
};

template <typename... T>
struct NestedTuple : NestedAll<T...> {
  template <typename Tuple, typename Visit>
  static void visit(Tuple& tuple, Visit& visit) {
    std::apply([&](auto&... each) { (Nested<T>::visit(each, visit), ...); }, tuple);
  }
};
template <typename... T>
struct Nested<std::tuple<T...>> : NestedTuple<T...> {};
template <typename A, typename B>
struct Nested<std::pair<A, B>> : NestedTuple<A, B> {};

template <HasFields T>
struct Nested<T> {
  using Fields = decltype(std::declval<T&>().fields());
  template <typename Tuple>
  struct Values;
  template <typename... Field>
  struct Values<std::tuple<Field&...>> : NestedTuple<Field...> {};

  static constexpr bool kTensors = Values<Fields>::kTensors, kOnlyTensors = Values<Fields>::kOnlyTensors,
                        kKnown = Values<Fields>::kKnown && !kAddsToFields<T>;
  template <typename Value, typename Visit>
  static void visit(Value& value, Visit& visit) {
    Fields fields = const_cast<T&>(value).fields();
    Values<Fields>::visit(fields, visit);
  }
};

// What torch::nn::AdaptiveLogSoftmaxWithLoss gives.
template <>
struct Nested<torch::nn::ASMoutput> {
  static constexpr bool kTensors = true, kOnlyTensors = false, kKnown = true;
  template <typename Value, typename Visit>
  static void visit(Value& value, Visit& visit) {
    visit(value.output);
  }
};

// The tensors in `value`, in order; undefined ones too.
template <typename T>
std::vector<at::Tensor> tensors_of(const T& value) {
  std::vector<at::Tensor> tensors;
  const auto take = [&](const at::Tensor& tensor) { tensors.push_back(tensor); };
  Nested<T>::visit(value, take);
  return tensors;
}

// Puts tensors where tensors_of() found some.
template <typename T>
void put_tensors(T& value, const std::vector<at::Tensor>& tensors) {
  auto next = tensors.begin();
  const auto put = [&](at::Tensor& tensor) { tensor = *next++; };
  Nested<T>::visit(value, put);
}

}  // namespace tandem::internal
