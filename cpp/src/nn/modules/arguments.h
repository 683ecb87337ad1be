// The values that a module's forward() takes and gives, as a front end has them.
#pragma once

#include <ATen/core/ivalue.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "nn/packed_sequence.h"
#include "tandem/error.h"
#include "tandem/nn.h"

namespace tandem::nn {

// The names of a forward's parameters; '?' at the end of those that may be left out.
using Names = std::vector<const char*>;

inline bool may_be_left_out(std::string_view name) {
  return name.ends_with('?');
}
inline std::string without_mark(std::string_view name) {
  return std::string(name.substr(0, name.size() - (may_be_left_out(name) ? 1 : 0)));
}

// Hands the given values to the parameters of a forward(), in order.
class Arguments {
 public:
  Arguments(const std::string& type, const Names& names, at::ArrayRef<at::IValue> given)
      : type_(type), names_(names), given_(given) {}

  template <typename T>
  T next() {
    return take(static_cast<T*>(nullptr));
  }
  void finish() const {
    if (next_ < given_.size()) {
      refuse("takes at most " + std::to_string(next_) + " values, " + std::to_string(given_.size()) + " were given");
    }
  }

 private:
  // "1 (target)"
  std::string place(std::size_t index) const {
    return std::to_string(index) + " (" + without_mark(names_[index]) + ")";
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kInvalidArgument, type_ + ": forward " + why);
  }
  // NULL for what is left out or none.
  const at::IValue* value() {
    const std::size_t index = next_++;
    if (index < given_.size() && !given_[index].isNone()) return &given_[index];
    if (may_be_left_out(names_[index])) return nullptr;
    refuse("needs a tensor as value " + place(index) + (index < given_.size() ? ", not none" : ""));
  }
  [[noreturn]] void wrong(const at::IValue& value, const char* expected) const {
    refuse("takes " + std::string(expected) + " as value " + place(next_ - 1) + ", not " + value.tagKind());
  }

  at::Tensor take(at::Tensor*) {
    const at::IValue* given = value();
    if (!given) return {};
    if (!given->isTensor()) wrong(*given, "a tensor");
    return given->toTensor();
  }
  std::optional<bool> take(std::optional<bool>*) {
    const at::IValue* given = value();
    if (!given) return std::nullopt;
    if (!given->isBool()) wrong(*given, "a bool");
    return given->toBool();
  }
  std::optional<std::int64_t> take(std::optional<std::int64_t>*) {
    const at::IValue* given = value();
    if (!given) return std::nullopt;
    if (!given->isInt()) wrong(*given, "an integer");
    return given->toInt();
  }
  std::vector<std::int64_t> take(std::vector<std::int64_t>*) {
    const at::IValue* given = value();
    if (!given) return {};
    if (!given->isIntList()) wrong(*given, "a list of integers");
    return given->toIntVector();
  }
  // An LSTM's states, (h, c).
  std::optional<std::tuple<at::Tensor, at::Tensor>> take(std::optional<std::tuple<at::Tensor, at::Tensor>>*) {
    const at::IValue* given = value();
    if (!given) return std::nullopt;
    if (!given->isTuple()) wrong(*given, "a tuple of two tensors");
    const auto& states = given->toTupleRef().elements();
    if (states.size() != 2 || !states[0].isTensor() || !states[1].isTensor()) {
      refuse("takes a tuple of two tensors, both states, as value " + place(next_ - 1));
    }
    return std::make_tuple(states[0].toTensor(), states[1].toTensor());
  }
  // A tuple of tensors, such as a decoder's past keys and values.
  std::vector<at::Tensor> take(std::vector<at::Tensor>*) {
    const at::IValue* given = value();
    if (!given) return {};
    if (given->isTensorList()) return given->toTensorVector();
    if (!given->isTuple()) wrong(*given, "a tuple of tensors");
    std::vector<at::Tensor> tensors;
    for (const at::IValue& one : given->toTupleRef().elements()) {
      if (!one.isTensor()) wrong(one, "a tuple of tensors");
      tensors.push_back(one.toTensor());
    }
    return tensors;
  }
  // A tuple of its four tensors, of which the last two may be none.
  torch::nn::utils::rnn::PackedSequence take(torch::nn::utils::rnn::PackedSequence*) {
    const at::IValue* given = value();
    if (!given || !given->isTuple() || given->toTupleRef().size() != 4) {
      refuse("takes a packed sequence, a tuple of 4, as value " + place(next_ - 1));
    }
    std::array<at::Tensor, 4> tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const at::IValue& element = given->toTupleRef().elements()[i];
      if (element.isTensor()) {
        tensors[i] = element.toTensor();
      } else if (!element.isNone()) {
        wrong(element, "a packed sequence of tensors");
      }
    }
    return packed_sequence(tensors[0], tensors[1], tensors[2], tensors[3]);
  }

  const std::string& type_;
  const Names& names_;
  at::ArrayRef<at::IValue> given_;
  std::size_t next_ = 0;
};

// What a parameter is kept in while forward() runs, and how it is passed.
template <typename T>
struct Kept {
  using type = std::remove_cvref_t<T>;
  static const type& pass(const type& kept) { return kept; }
};
template <>
struct Kept<const std::optional<at::IntArrayRef>&> {
  using type = std::vector<std::int64_t>;
  static std::optional<at::IntArrayRef> pass(const type& kept) {
    return kept.empty() ? std::nullopt : std::make_optional<at::IntArrayRef>(kept);
  }
};
template <>
struct Kept<const std::optional<std::vector<std::int64_t>>&> {
  using type = std::vector<std::int64_t>;
  static std::optional<std::vector<std::int64_t>> pass(const type& kept) {
    return kept.empty() ? std::nullopt : std::make_optional(kept);
  }
};

inline at::IValue to_value(const at::Tensor& result) {
  return result;
}
inline at::IValue to_value(const torch::nn::utils::rnn::PackedSequence& result) {
  return c10::ivalue::Tuple::create(
      {result.data(), result.batch_sizes(), result.sorted_indices(), result.unsorted_indices()});
}
template <typename... Ts>
at::IValue to_value(const std::tuple<Ts...>& results) {
  return std::apply([](const auto&... each) { return c10::ivalue::Tuple::create({to_value(each)...}); }, results);
}

// As a description has the types of arguments and results.
inline ValueDescription describe_value(const at::Tensor*) {
  return {"tensor", {}};
}
inline ValueDescription describe_value(const std::optional<bool>*) {
  return {"bool", {}};
}
inline ValueDescription describe_value(const std::optional<std::int64_t>*) {
  return {"int", {}};
}
inline ValueDescription describe_value(const std::vector<std::int64_t>*) {
  return {"int[]", {}};
}
inline ValueDescription describe_value(const std::vector<at::Tensor>*) {
  return {"tensor[]", {}};
}
template <typename... Ts>
ValueDescription describe_value(const std::tuple<Ts...>*) {
  return {"tuple", {describe_value(static_cast<const Ts*>(nullptr))...}};
}
template <typename T>
ValueDescription describe_value(const std::optional<T>*) {
  return describe_value(static_cast<const T*>(nullptr));
}

// What a forward gives: a tuple is several results.
inline void add_results(const at::Tensor& result, std::vector<at::IValue>& out) {
  out.push_back(result);
}
template <typename... Ts>
void add_results(const std::tuple<Ts...>& results, std::vector<at::IValue>& out) {
  std::apply([&](const auto&... each) { (out.push_back(to_value(each)), ...); }, results);
}

}  // namespace tandem::nn
