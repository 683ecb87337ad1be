// Reads named options into the options objects of LibTorch.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "option_types.h"
#include "tandem/error.h"
#include "tandem/option.h"

namespace tandem {

// Made for one object; a factory names each option that it knows, and finish() refuses those that nobody named.
//
// A factory that is called to describe its options gets placeholders for those it needs, and makes nothing of them.
class Options {
 public:
  Options(std::string owner, const std::vector<Option>& given)
      : owner_(std::move(owner)), given_(given), used_(given.size(), false) {}

  // Collects what the factory reads.
  Options(std::string owner, std::vector<OptionDescription>& described)
      : owner_(std::move(owner)), described_(&described) {}
  bool describes() const { return described_ != nullptr; }

  // Overwrites `target` when the option is given.
  template <typename T>
  Options& read(const char* name, T& target) {
    if (described_) {
      describe(name, target, false);
    } else if (const at::IValue* value = find(name)) {
      assign(name, *value, target);
    }
    return *this;
  }

  // The option, which must be given.
  template <typename T>
  T need(const char* name) {
    T target = blank<T>();
    if (described_) {
      describe(name, target, true);
      return target;
    }
    const at::IValue* value = find(name);
    if (!value) throw Error(ErrorCode::kInvalidArgument, owner_ + ": option '" + name + "' is missing");
    assign(name, *value, target);
    return target;
  }
  // A number of things: at least 1.
  std::int64_t need_count(const char* name) {
    const auto number = need<std::int64_t>(name);
    if (described_) return 1;
    check_count(name, number);
    return number;
  }
  void check_count(const char* name, std::int64_t number) const {
    if (number < 1) refuse(name, "must be at least 1, not " + std::to_string(number));
  }

  // Throws Error (kNotFound) for an option that was not asked for.
  void finish() const;

  [[noreturn]] void refuse(const char* name, const std::string& why) const;

 private:
  // ExpandingArray has no default constructor.
  template <typename T>
  static T blank() {
    if constexpr (std::is_default_constructible_v<T>) {
      return T{};
    } else {
      return T(0);
    }
  }

  template <typename T>
  void describe(const char* name, const T& value, bool required) {
    OptionDescription one{name, option_type(value), required, {}, {}};
    if (!required) one.initial = option_value(value);
    one.choices = option_choices(value);
    described_->push_back(std::move(one));
  }

  const at::IValue* find(const char* name);
  [[noreturn]] void wrong_type(const char* name, const at::IValue& value, const std::string& expected) const;

  void assign(const char* name, const at::IValue& value, bool& target) const;
  void assign(const char* name, const at::IValue& value, std::int64_t& target) const;
  void assign(const char* name, const at::IValue& value, int& target) const;
  void assign(const char* name, const at::IValue& value, double& target) const;
  void assign(const char* name, const at::IValue& value, std::string& target) const;
  void assign(const char* name, const at::IValue& value, at::Tensor& target) const;
  void assign(const char* name, const at::IValue& value, at::ScalarType& target) const;
  void assign(const char* name, const at::IValue& value, at::Generator& target) const;
  // A number counts as a list of one.
  void assign(const char* name, const at::IValue& value, std::vector<std::int64_t>& target) const;
  void assign(const char* name, const at::IValue& value, std::vector<double>& target) const;
  // A tuple, where one of them is none.
  void assign(const char* name, const at::IValue& value, std::vector<std::optional<double>>& target) const;

  template <typename T>
  void assign(const char* name, const at::IValue& value, std::optional<T>& target) const {
    if (value.isNone()) {
      target = std::nullopt;
      return;
    }
    T inner = blank<T>();
    assign(name, value, inner);
    target = std::move(inner);
  }

  // One for each dimension, or one for all.
  template <std::size_t D, typename T>
  void assign(const char* name, const at::IValue& value, torch::ExpandingArray<D, T>& target) const {
    std::vector<T> numbers;
    assign(name, value, numbers);
    if (numbers.size() == 1) {
      for (auto& one : *target) one = numbers[0];
    } else if (numbers.size() == D) {
      std::copy(numbers.begin(), numbers.end(), target->begin());
    } else {
      refuse(name, "must be one number or " + std::to_string(D) + ", not " + std::to_string(numbers.size()));
    }
  }

  template <std::size_t D>
  void assign(const char* name, const at::IValue& value, torch::ExpandingArrayWithOptionalElem<D>& target) const {
    torch::ExpandingArray<D> sizes(0);
    assign(name, value, sizes);
    for (std::size_t i = 0; i < D; ++i) (*target)[i] = (*sizes)[i] < 0 ? std::nullopt : std::make_optional((*sizes)[i]);
  }

  // An enumeration by its name ("mean"), or, where there is one, the alternative that is none.
  template <typename... Ts>
  void assign(const char* name, const at::IValue& value, std::variant<Ts...>& target) const {
    if (value.isString()) {
      const std::string wanted = plain(value.toStringRef());
      std::string known;
      const bool found = (try_name<Ts>(wanted, target, known) || ...);
      if (!found) refuse(name, "is '" + value.toStringRef() + "'; it can be " + known);
    } else if (!(try_value<Ts>(name, value, target) || ...)) {
      wrong_type(name, value, "a string");
    }
  }

  template <typename T, typename V>
  static bool try_name(const std::string& wanted, V& target, std::string& known) {
    if constexpr (kIsEnumName<T>) {
      const std::string own = enum_name<T>();
      known += (known.empty() ? "'" : ", '") + own + "'";
      if (plain(own) != wanted) return false;
      target = T{};
      return true;
    }
    return false;
  }

  template <typename T, typename V>
  bool try_value(const char* name, const at::IValue& value, V& target) const {
    if constexpr (!kIsEnumName<T>) {
      T inner = blank<T>();
      assign(name, value, inner);
      target = std::move(inner);
      return true;
    }
    return false;
  }

  static std::string plain(std::string text);  // lower case, without underscores and dashes

  std::string owner_;
  at::ArrayRef<Option> given_;
  std::vector<bool> used_;
  std::vector<OptionDescription>* described_ = nullptr;
  std::vector<std::string> known_;
};

}  // namespace tandem
