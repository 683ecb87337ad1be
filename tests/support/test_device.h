// Where tests of references compute: on the CPU, or on a GPU with TEST_DEVICE=cuda. What Python stored holds for both.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::testing {

inline bool wants_gpu() {
  const char* given = std::getenv("TEST_DEVICE");
  return given && std::string(given) == "cuda";
}

// "" where the device is there. LibTorch settles at its first call whether it has CUDA: ask before anything else.
inline const std::string& missing_device() {
  static const std::string why = [] {
    try {
      if (wants_gpu()) load_cuda();
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  }();
  return why;
}

inline at::Device test_device() {
  return wants_gpu() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

inline at::Tensor on_device(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.to(test_device()) : tensor;
}

// Moves what is nested in a value, too.
inline at::IValue on_device(const at::IValue& value) {
  if (value.isTensor()) return on_device(value.toTensor());
  if (value.isTensorList()) {
    std::vector<at::Tensor> moved;
    for (const at::Tensor& one : value.toTensorVector()) moved.push_back(on_device(one));
    return moved;
  }
  if (value.isTuple()) {
    std::vector<at::IValue> moved;
    for (const at::IValue& one : value.toTupleRef().elements()) moved.push_back(on_device(one));
    return c10::ivalue::Tuple::create(std::move(moved));
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    c10::impl::GenericDict moved(dict.keyType(), dict.valueType());
    for (const auto& item : dict) moved.insert(item.key(), on_device(item.value()));
    return moved;
  }
  return value;
}

inline std::vector<at::IValue> on_device(std::vector<at::IValue> values) {
  for (at::IValue& value : values) value = on_device(value);
  return values;
}

// Skips each test of a program whose device is not there, with a text that CTest counts as skipped.
class TestDevice : public ::testing::Environment {
  void SetUp() override {
    if (!missing_device().empty()) GTEST_SKIP() << "needs a GPU: " << missing_device();
  }
};
inline const ::testing::Environment* const kTestDevice = ::testing::AddGlobalTestEnvironment(new TestDevice);

}  // namespace tandem::testing
