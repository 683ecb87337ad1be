// A case's arguments as the facade's functions take them, and its results as lines.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tandem/abi/ops.hpp"
#include "tandem/abi/runtime.hpp"

namespace values {

namespace ops = tandem::abi::ops;
using tandem::abi::Device;
using tandem::abi::Tensor;
using tandem::abi::TensorList;

class Given {
 public:
  explicit Given(std::vector<std::string> lines);

  Tensor tensor(int i) { return made_[i].empty() ? Tensor() : made_[i][0]; }
  TensorList tensors(int i);
  ops::Scalar scalar(int i);
  std::vector<ops::Scalar> scalars(int i);
  int64_t integer(int i);
  std::vector<int64_t> integers(int i);
  double real(int i);
  std::vector<double> reals(int i);
  bool flag(int i) { return integer(i) != 0; }
  std::string string(int i);
  int32_t enumeration(int i) { return static_cast<int32_t>(integer(i)); }
  tandem::abi::Generator generator(int i);
  Device device(int) { return Device(TDM_DEVICE_CPU); }

  template <typename T>
  std::optional<T> option(int i, T (Given::*get)(int)) {
    if (lines_[i] == "none") return std::nullopt;
    return (this->*get)(i);
  }

  // The tensors, in order, as the call left them.
  std::string after() const;

 private:
  std::vector<std::string> lines_;
  std::vector<std::vector<Tensor>> made_;  // by argument; undefined ones are None
};

std::string describe(const Tensor& tensor);
std::string describe(const std::vector<Tensor>& tensors);
std::string describe(bool value);
std::string describe(int64_t value);
std::string describe(int32_t dtype);

template <typename... T>
std::string describe(const std::tuple<T...>& results) {
  return std::apply([](const auto&... each) { return (describe(each) + ... + std::string()); }, results);
}

struct Binding {
  const char* key;
  std::string (*run)(Given&);
};

// Each generated file has a part of the table.
void add(const Binding* bindings, size_t count);

}  // namespace values
