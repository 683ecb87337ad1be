// How tests call the C ABI: errors as text, handles that free themselves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tandem/tandem.h"

namespace calls {

struct Free {
  void operator()(tdm_error* error) const { tdm_error_free(error); }
  void operator()(tdm_tensor* tensor) const { tdm_tensor_free(tensor); }
  void operator()(tdm_string* string) const { tdm_string_free(string); }
  void operator()(tdm_module* module) const { tdm_module_free(module); }
  void operator()(tdm_optimizer* optimizer) const { tdm_optimizer_free(optimizer); }
  void operator()(tdm_lr_scheduler* scheduler) const { tdm_lr_scheduler_free(scheduler); }
  void operator()(tdm_averaged_parameters* averages) const { tdm_averaged_parameters_free(averages); }
  void operator()(tdm_strings* list) const { tdm_strings_free(list); }
  void operator()(tdm_named_tensors* list) const { tdm_named_tensors_free(list); }
  void operator()(tdm_hook* hook) const { tdm_hook_free(hook); }
  void operator()(tdm_generator* generator) const { tdm_generator_free(generator); }
};
using Error = std::unique_ptr<tdm_error, Free>;
using Tensor = std::unique_ptr<tdm_tensor, Free>;
using String = std::unique_ptr<tdm_string, Free>;
using Module = std::unique_ptr<tdm_module, Free>;
using Optimizer = std::unique_ptr<tdm_optimizer, Free>;
using Scheduler = std::unique_ptr<tdm_lr_scheduler, Free>;
using Averages = std::unique_ptr<tdm_averaged_parameters, Free>;
using Generator = std::unique_ptr<tdm_generator, Free>;
using Hook = std::unique_ptr<tdm_hook, Free>;
using Strings = std::unique_ptr<tdm_strings, Free>;
using NamedTensors = std::unique_ptr<tdm_named_tensors, Free>;

inline testing::AssertionResult succeeded(tdm_error* owned) {
  const Error error(owned);
  if (!error) return testing::AssertionSuccess();
  return testing::AssertionFailure() << tdm_error_operation(owned) << ": " << tdm_error_message(owned) << " ("
                                     << tdm_error_get_code(owned) << ")";
}

// The message of an error with this code; fails the test otherwise.
inline std::string message(tdm_error* owned, tdm_error_code code) {
  const Error error(owned);
  EXPECT_NE(owned, nullptr) << "an error was expected";
  if (!error) return "";
  EXPECT_EQ(tdm_error_get_code(owned), code) << tdm_error_message(owned);
  const std::string text = tdm_error_message(owned);
  EXPECT_EQ(text.find("INTERNAL ASSERT"), std::string::npos) << text;
  EXPECT_EQ(text.find("Exception raised"), std::string::npos) << text;
  EXPECT_EQ(text.find("0x"), std::string::npos) << text;
  return text;
}

#define EXPECT_OK(call) EXPECT_TRUE(::calls::succeeded(call))
#define ASSERT_OK(call) ASSERT_TRUE(::calls::succeeded(call))
#define EXPECT_REFUSED(call, code, text) EXPECT_THAT(::calls::message(call, code), ::testing::HasSubstr(text))

inline Tensor tensor(const std::vector<float>& values, const std::vector<std::int64_t>& sizes) {
  tdm_tensor* made = nullptr;
  EXPECT_OK(tdm_tensor_from_data(values.data(), values.size() * sizeof(float), TDM_DTYPE_FLOAT32, sizes.data(),
                                 static_cast<std::int64_t>(sizes.size()), &made));
  return Tensor(made);
}

inline std::vector<float> floats(const tdm_tensor* tensor) {
  std::vector<float> values(static_cast<std::size_t>(tdm_tensor_numel(tensor)));
  EXPECT_OK(tdm_tensor_copy_to(tensor, values.data(), values.size() * sizeof(float)));
  return values;
}

inline std::vector<std::int64_t> sizes(const tdm_tensor* tensor) {
  const std::int64_t* first = tdm_tensor_sizes(tensor);
  return {first, first + tdm_tensor_dim(tensor)};
}

inline tdm_value of(tdm_tensor* tensor) {
  tdm_value value{};
  value.tag = TDM_VALUE_TENSOR;
  value.as.tensor = tensor;
  return value;
}
inline tdm_value of(const Tensor& tensor) {
  return of(tensor.get());
}
inline tdm_value of(std::int64_t integer) {
  tdm_value value{};
  value.tag = TDM_VALUE_INT;
  value.as.integer = integer;
  return value;
}
inline tdm_value of(int integer) {
  return of(std::int64_t{integer});
}
inline tdm_value of(double real) {
  tdm_value value{};
  value.tag = TDM_VALUE_DOUBLE;
  value.as.real = real;
  return value;
}
inline tdm_value of(bool boolean) {
  tdm_value value{};
  value.tag = TDM_VALUE_BOOL;
  value.as.boolean = boolean;
  return value;
}
inline tdm_value of(const char* text) {
  tdm_value value{};
  value.tag = TDM_VALUE_STRING;
  value.as.string = {text, std::strlen(text)};
  return value;
}
inline tdm_value tagged(tdm_value_tag tag, std::int32_t enumeration = 0) {
  tdm_value value{};
  value.tag = tag;
  value.as.enumeration = enumeration;
  return value;
}
inline tdm_value of(const Generator& generator) {
  tdm_value value{};
  value.tag = TDM_VALUE_GENERATOR;
  value.as.generator = generator.get();
  return value;
}
// Borrows `items`.
template <typename T>
tdm_value list(tdm_value_tag tag, const std::vector<T>& items) {
  tdm_value value{};
  value.tag = tag;
  value.as.list = {items.data(), items.size()};
  return value;
}
inline tdm_value ints(const std::vector<std::int64_t>& items) {
  return list(TDM_VALUE_INT_LIST, items);
}

inline const tdm_op* find(const char* name, const char* overload = "") {
  const tdm_op* op = nullptr;
  EXPECT_OK(tdm_op_find(name, overload, &op));
  return op;
}

// For operators with one result.
inline tdm_error* call(const tdm_op* op, const std::vector<tdm_value>& arguments, tdm_value* result) {
  return tdm_op_call(op, arguments.data(), arguments.size(), result, tdm_op_result_count(op));
}

inline Tensor call(const char* name, const char* overload, const std::vector<tdm_value>& arguments) {
  tdm_value result{};
  EXPECT_OK(call(find(name, overload), arguments, &result));
  EXPECT_EQ(result.tag, TDM_VALUE_TENSOR);
  return Tensor(result.tag == TDM_VALUE_TENSOR ? result.as.tensor : nullptr);
}

inline tdm_option option(const char* name, tdm_value value) {
  return {name, value};
}

inline Module module(const char* type, const std::vector<tdm_option>& options) {
  tdm_module* made = nullptr;
  EXPECT_OK(tdm_module_create(type, options.data(), options.size(), &made));
  return Module(made);
}

// One result.
inline Tensor forward(const Module& module, const std::vector<tdm_value>& arguments) {
  tdm_value result{};
  std::size_t count = 1;
  EXPECT_OK(tdm_module_forward(module.get(), arguments.data(), arguments.size(), &result, &count));
  return Tensor(result.as.tensor);
}

inline std::vector<Tensor> parameters(const Module& module) {
  tdm_named_tensors* list = nullptr;
  EXPECT_OK(tdm_module_named_parameters(module.get(), &list));
  const NamedTensors owned(list);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < tdm_named_tensors_size(list); ++i) {
    tdm_tensor* one = nullptr;
    EXPECT_OK(tdm_named_tensors_get(list, i, &one));
    tensors.emplace_back(one);
  }
  return tensors;
}

inline std::vector<tdm_tensor*> borrowed(const std::vector<Tensor>& tensors) {
  std::vector<tdm_tensor*> pointers;
  for (const auto& one : tensors) pointers.push_back(one.get());
  return pointers;
}

inline std::vector<std::string> take_strings(tdm_strings* list) {
  const Strings owned(list);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tdm_strings_count(list); ++i) {
    texts.emplace_back(tdm_strings_data(list, i), tdm_strings_size(list, i));
  }
  return texts;
}

// Handles live at the end that were not at the start.
class LeakCheck {
 public:
  LeakCheck() {
    for (const char* type : kTypes) before_.push_back(tdm_live_count(type));
    bytes_ = tdm_tensor_live_bytes();
  }
  ~LeakCheck() {
    for (std::size_t i = 0; i < before_.size(); ++i) EXPECT_EQ(tdm_live_count(kTypes[i]), before_[i]) << kTypes[i];
    EXPECT_EQ(tdm_tensor_live_bytes(), bytes_);
  }

 private:
  static constexpr const char* kTypes[] = {"tensor",
                                           "module",
                                           "optimizer",
                                           "store",
                                           "scope",
                                           "named_tensors",
                                           "process_group",
                                           "work",
                                           "string",
                                           "strings",
                                           "mode",
                                           "error",
                                           "hook",
                                           "callback",
                                           "generator",
                                           "recordio_writer",
                                           "recordio_reader",
                                           "loader",
                                           "ddp",
                                           "grad_scaler",
                                           "event",
                                           "stream",
                                           "summary_writer",
                                           "data_parallel",
                                           "dataset",
                                           "sampler",
                                           "lr_scheduler",
                                           "averaged_parameters",
                                           "checkpoint_folder",
                                           "checkpoint",
                                           "pipeline",
                                           "device_mesh",
                                           "rpc_future",
                                           "rpc_result",
                                           "rref",
                                           "distributed_optimizer",
                                           "parameter_server",
                                           "parameter_client",
                                           "own_tensors"};
  std::vector<std::int64_t> before_;
  std::int64_t bytes_;
};

}  // namespace calls
