// What the generated functions of tandem/abi/ops are written with.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tandem/abi/operator.hpp"

namespace tandem::abi::ops {

// A number where an operator takes one. As in PyTorch, an integer keeps an integer tensor's type and a double does not.
class Scalar {
 public:
  // NOLINTBEGIN: implicit, so that calls take numbers
  Scalar(bool value) : value_(value) {}
  Scalar(int value) : value_(static_cast<int64_t>(value)) {}
  Scalar(int64_t value) : value_(value) {}
  Scalar(double value) : value_(value) {}
  Scalar(std::complex<double> value) : value_(value) {}
  // NOLINTEND

  void add_to(Arguments& arguments) const {
    if (const auto* flag = std::get_if<bool>(&value_)) return arguments.add_bool(*flag);
    if (const auto* integer = std::get_if<int64_t>(&value_)) return arguments.add_int(*integer);
    if (const auto* real = std::get_if<double>(&value_)) return arguments.add_double(*real);
    const auto& number = std::get<std::complex<double>>(value_);
    arguments.add_complex(number.real(), number.imag());
  }

 private:
  std::variant<bool, int64_t, double, std::complex<double>> value_;
};

// Collects the arguments of one call, in the schema's order, and runs it. Lives no longer than the call's expression.
class Call {
 public:
  explicit Call(const Operator& op) : op_(op) {}

  // An undefined tensor is None.
  Call& tensor(const Tensor& value) { return arguments_.add(value), *this; }
  Call& tensors(const TensorList& value) { return arguments_.add(value), *this; }
  // An undefined generator is None: the default one.
  Call& generator(const Generator& value) { return arguments_.add(value), *this; }
  Call& scalar(const Scalar& value) { return value.add_to(arguments_), *this; }
  Call& scalars(const std::vector<Scalar>& value) {
    Arguments numbers;
    for (const Scalar& number : value) number.add_to(numbers);
    return arguments_.add_scalars(numbers), *this;
  }
  Call& integer(int64_t value) { return arguments_.add_int(value), *this; }
  Call& integers(const std::vector<int64_t>& value) { return arguments_.add_ints(value), *this; }
  Call& real(double value) { return arguments_.add_double(value), *this; }
  Call& reals(const std::vector<double>& value) { return arguments_.add_doubles(value), *this; }
  Call& flag(bool value) { return arguments_.add_bool(value), *this; }
  Call& string(const std::string& value) { return arguments_.add_string(value), *this; }
  Call& dtype(int32_t value) { return arguments_.add_dtype(value), *this; }
  Call& layout(int32_t value) { return arguments_.add_layout(value), *this; }
  Call& memory_format(int32_t value) { return arguments_.add_memory_format(value), *this; }
  Call& device(const Device& value) { return arguments_.add(value), *this; }
  Call& unset() { return arguments_.add_default(), *this; }

  // An option: the schema's default when it is not given.
  template <typename T, typename Add>
  Call& option(const std::optional<T>& value, Add add) {
    return value ? (this->*add)(*value) : unset();
  }
  // A parameter that may be None.
  template <typename T, typename Add>
  Call& nullable(const std::optional<T>& value, Add add) {
    if (value) return (this->*add)(*value);
    return arguments_.add_none(), *this;
  }

  void done() { op_.call(arguments_); }
  Tensor one() { return op_.call_tensor(arguments_); }
  std::vector<Tensor> list() { return op_.call(arguments_).tensors(0); }
  bool truth() { return op_.call(arguments_).flag(0); }
  int64_t number() { return op_.call(arguments_).integer(0); }
  double real_number() { return op_.call(arguments_).real(0); }
  // TDM_DTYPE_…
  int32_t element_type() { return op_.call(arguments_).enumeration(0); }
  std::tuple<Tensor, std::vector<Tensor>> one_and_list() {
    Results r = op_.call(arguments_);
    return {r.take_tensor(0), r.tensors(1)};
  }
  std::tuple<Tensor, Tensor> two() {
    Results r = op_.call(arguments_);
    return {r.take_tensor(0), r.take_tensor(1)};
  }
  std::tuple<Tensor, Tensor, Tensor> three() {
    Results r = op_.call(arguments_);
    return {r.take_tensor(0), r.take_tensor(1), r.take_tensor(2)};
  }
  std::tuple<Tensor, Tensor, Tensor, Tensor> four() {
    Results r = op_.call(arguments_);
    return {r.take_tensor(0), r.take_tensor(1), r.take_tensor(2), r.take_tensor(3)};
  }

 private:
  const Operator& op_;
  Arguments arguments_;
};

}  // namespace tandem::abi::ops
