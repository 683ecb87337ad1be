// The tensors in what modules take and give: a tensor, or tuples, pairs, arrays, vectors, optionals and maps of such.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tandem::internal {

// kTensors: whether there may be tensors in a T. kOnlyTensors: whether all in it are.
template <typename T>
struct Nested {
  static constexpr bool kTensors = false, kOnlyTensors = false;
  template <typename Visit>
  static void visit(T&, Visit&) {}
};

template <>
struct Nested<at::Tensor> {
  static constexpr bool kTensors = true, kOnlyTensors = true;
  template <typename Visit>
  static void visit(at::Tensor& tensor, Visit& visit) {
    visit(tensor);
  }
};

template <typename Row, typename T>
struct NestedRow {
  static constexpr bool kTensors = Nested<T>::kTensors, kOnlyTensors = Nested<T>::kOnlyTensors;
  template <typename Visit>
  static void visit(Row& row, Visit& visit) {
    if constexpr (kTensors) {
      for (auto& element : row) Nested<T>::visit(element, visit);
    }
  }
};
template <typename T, typename A>
struct Nested<std::vector<T, A>> : NestedRow<std::vector<T, A>, T> {};
template <typename T, std::size_t kSize>
struct Nested<std::array<T, kSize>> : NestedRow<std::array<T, kSize>, T> {};

template <typename T>
struct Nested<std::optional<T>> {
  static constexpr bool kTensors = Nested<T>::kTensors, kOnlyTensors = Nested<T>::kOnlyTensors;
  template <typename Visit>
  static void visit(std::optional<T>& value, Visit& visit) {
    if (value) Nested<T>::visit(*value, visit);
  }
};

template <typename Map, typename T>
struct NestedMap {
  static constexpr bool kTensors = Nested<T>::kTensors, kOnlyTensors = Nested<T>::kOnlyTensors;
  template <typename Visit>
  static void visit(Map& map, Visit& visit) {
    if constexpr (kTensors) {
      // By key: the same order in every copy.
      std::map<typename Map::key_type, T*> sorted;
      for (auto& [key, value] : map) sorted.emplace(key, &value);
      for (auto& [key, value] : sorted) Nested<T>::visit(*value, visit);
    }
  }
};
template <typename K, typename T, typename... More>
struct Nested<std::map<K, T, More...>> : NestedMap<std::map<K, T, More...>, T> {};
template <typename K, typename T, typename... More>
struct Nested<std::unordered_map<K, T, More...>> : NestedMap<std::unordered_map<K, T, More...>, T> {};

template <typename Tuple, typename... T>
struct NestedTuple {
  static constexpr bool kTensors = (Nested<T>::kTensors || ...), kOnlyTensors = (Nested<T>::kOnlyTensors && ...);
  template <typename Visit>
  static void visit(Tuple& tuple, Visit& visit) {
    std::apply([&](auto&... each) { (Nested<T>::visit(each, visit), ...); }, tuple);
  }
};
template <typename... T>
struct Nested<std::tuple<T...>> : NestedTuple<std::tuple<T...>, T...> {};
template <typename A, typename B>
struct Nested<std::pair<A, B>> : NestedTuple<std::pair<A, B>, A, B> {};

// Places of the tensors in `value`, in order; undefined ones too.
template <typename T>
std::vector<at::Tensor*> tensors_in(T& value) {
  std::vector<at::Tensor*> places;
  const auto visit = [&](at::Tensor& tensor) { places.push_back(&tensor); };
  Nested<T>::visit(value, visit);
  return places;
}

// The tensors themselves.
template <typename T>
std::vector<at::Tensor> tensors_of(T& value) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor* place : tensors_in(value)) tensors.push_back(*place);
  return tensors;
}

// Puts tensors where tensors_in() found some.
template <typename T>
void put_tensors(T& value, const std::vector<at::Tensor>& tensors) {
  const auto places = tensors_in(value);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = tensors[i];
}

}  // namespace tandem::internal
