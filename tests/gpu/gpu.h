// Tests that are skipped, with the reason, where there is no GPU.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>

#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::testing {

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!reason().empty()) GTEST_SKIP() << "needs a GPU: " << reason();
  }

  static const std::string& reason() {
    static const std::string why = [] {
      try {
        load_cuda();
        return std::string();
      } catch (const Error& error) {
        return std::string(error.what());
      }
    }();
    return why;
  }
};

inline const c10::Device kGpu(c10::kCUDA, 0);

}  // namespace tandem::testing
