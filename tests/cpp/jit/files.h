// What tests/jit/models.py made with Python's torch.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>
#include <string>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/jit.h"
#include "tandem/safetensors.h"

namespace tandem::test {

inline std::string jit_file(const std::string& name) {
  return std::string(JIT_FILES "/") + name;
}

inline at::Tensor jit_expected(const std::string& name) {
  static const Safetensors all = load_safetensors(jit_file("expected.safetensors"));
  for (const auto& [key, tensor] : all.tensors) {
    if (key == name) return tensor.clone();
  }
  throw std::runtime_error("models.py stores no '" + name + "'");
}

inline void expect_close(const at::Tensor& found, const at::Tensor& expected, const std::string& what = "") {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  EXPECT_EQ(found.scalar_type(), expected.scalar_type()) << what;
  EXPECT_TRUE(at::allclose(found, expected, 1e-10, 1e-12)) << what << ": " << found << "\nexpected " << expected;
}

}  // namespace tandem::test
