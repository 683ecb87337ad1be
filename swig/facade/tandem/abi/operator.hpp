// LibTorch's operators by name.
#pragma once

#include <string>

#include "tandem/abi/value.hpp"

namespace tandem::abi {

// One overload of an operator. Look it up once; it lives for ever and may be called from any thread.
//
//   static const Operator add = Operator::find("aten::add", "Tensor");
//   Tensor sum = add.call_tensor(Arguments::of(a, b));
class Operator {
 public:
  static Operator find(const std::string& name, const std::string& overload = "") {
    const tdm_op* op = nullptr;
    check(tdm_op_find(name.c_str(), overload.c_str(), &op));
    return Operator(op);
  }

  std::string schema() const { return tdm_op_schema(op_); }
  size_t argument_count() const { return tdm_op_argument_count(op_); }
  size_t result_count() const { return tdm_op_result_count(op_); }

  // Missing arguments at the end take their defaults.
  Results call(const Arguments& arguments) const {
    Results results(result_count());
    check(tdm_op_call(op_, arguments.data(), arguments.size(), results.data(), results.size()));
    return results;
  }
  // The first result, a tensor.
  Tensor call_tensor(const Arguments& arguments) const { return call(arguments).take_tensor(0); }

 private:
  explicit Operator(const tdm_op* op) : op_(op) {}
  const tdm_op* op_;
};

}  // namespace tandem::abi
