// Turns a torch::nn module into a tandem::nn::Module: the arguments of its forward() are deduced.
#pragma once

#include <tuple>

#include "options.h"
#include "tandem/nn.h"

namespace tandem::nn {

// Hands the given values to the parameters of a forward(), in order.
class Arguments {
 public:
  // Those at `required` and after may be left out.
  Arguments(const std::string& type, at::ArrayRef<at::IValue> given, std::size_t required)
      : type_(type), given_(given), required_(required) {}

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
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kInvalidArgument, type_ + ": forward " + why);
  }
  // NULL for what is left out or none.
  const at::IValue* value() {
    const std::size_t index = next_++;
    if (index < given_.size() && !given_[index].isNone()) return &given_[index];
    if (index >= required_) return nullptr;
    refuse("needs a tensor as value " + std::to_string(index) + (index < given_.size() ? ", not none" : ""));
  }
  [[noreturn]] void wrong(const at::IValue& value, const char* expected) const {
    refuse("takes " + std::string(expected) + " as value " + std::to_string(next_ - 1) + ", not " + value.tagKind());
  }

  at::Tensor take(at::Tensor*) {
    const at::IValue* given = value();
    if (!given) return {};
    if (!given->isTensor()) wrong(*given, "a tensor");
    return given->toTensor();
  }
  bool take(bool*) {  // LibTorch's forward() functions default theirs to true
    const at::IValue* given = value();
    if (!given) return true;
    if (!given->isBool()) wrong(*given, "a bool");
    return given->toBool();
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
      refuse("takes a tuple of two tensors, both states, as value " + std::to_string(next_ - 1));
    }
    return std::make_tuple(states[0].toTensor(), states[1].toTensor());
  }

  const std::string& type_;
  at::ArrayRef<at::IValue> given_;
  std::size_t required_;
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
template <typename... Ts>
at::IValue to_value(const std::tuple<Ts...>& results) {
  return std::apply([](const auto&... each) { return c10::ivalue::Tuple::create({to_value(each)...}); }, results);
}

// What a forward gives: a tuple is several results.
inline void add_results(const at::Tensor& result, std::vector<at::IValue>& out) {
  out.push_back(result);
}
template <typename... Ts>
void add_results(const std::tuple<Ts...>& results, std::vector<at::IValue>& out) {
  std::apply([&](const auto&... each) { (out.push_back(to_value(each)), ...); }, results);
}

template <typename Implementation>
class Wrapped : public Module {
 public:
  Wrapped(std::string type, std::shared_ptr<Implementation> implementation, std::size_t required)
      : Module(std::move(type)), implementation_(std::move(implementation)), required_(required) {}

  torch::nn::Module& get() const override { return *implementation_; }

  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> given) override {
    return call(given, &Implementation::forward);
  }

 protected:
  std::unique_ptr<Module> copy() const override {
    return std::make_unique<Wrapped>(type(), std::dynamic_pointer_cast<Implementation>(implementation_->clone()),
                                     required_);
  }

 private:
  template <typename Result, typename Class, typename... Parameters>
  std::vector<at::IValue> call(at::ArrayRef<at::IValue> given, Result (Class::*forward)(Parameters...)) {
    Arguments arguments(type(), given, required_);
    // Braces: evaluated in order.
    const std::tuple<typename Kept<Parameters>::type...> kept{arguments.next<typename Kept<Parameters>::type>()...};
    arguments.finish();
    std::vector<at::IValue> results;
    std::apply(
        [&](const auto&... each) {
          add_results(((*implementation_).*forward)(Kept<Parameters>::pass(each)...), results);
        },
        kept);
    return results;
  }

  std::shared_ptr<Implementation> implementation_;
  std::size_t required_;
};

using Factory = std::unique_ptr<Module> (*)(const std::string& type, Options& options);
struct Registered {
  const char* type;
  Factory make;
};

// Refuses unknown options before it makes the module. `required`: how many values forward() cannot do without.
template <typename Holder, typename... Settings>
std::unique_ptr<Module> wrap(const std::string& type, Options& options, std::size_t required,
                             const Settings&... settings) {
  options.finish();
  Holder holder(settings...);
  return std::make_unique<Wrapped<std::remove_cvref_t<decltype(*holder.ptr())>>>(type, holder.ptr(), required);
}

// Tables of the registry.
at::ArrayRef<Registered> layer_modules();     // with parameters, or with a shape to compute over
at::ArrayRef<Registered> function_modules();  // activations, losses

}  // namespace tandem::nn
