// What tests save, and how they look at what they get back.
#pragma once

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temporary_folder.h"
#include "tandem/checkpoint.h"

namespace tandem::testing {

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Of training that has come to `step`: all of it says so.
inline CheckpointContent content_of(std::int64_t step) {
  const double value = static_cast<double>(step);
  return {.replicated = {{"model", {{"weight", torch::full({3, 5}, value)}, {"bias", torch::full({5}, -value)}}},
                         {"optimizer", {{"0.step", torch::tensor(value)}}}},
          .values = "{\"step\": " + std::to_string(step) + "}"};
}

inline void expect_content_of(std::int64_t step, const Checkpoint& read) {
  const CheckpointContent wanted = content_of(step);
  EXPECT_EQ(read.step, step);
  EXPECT_EQ(read.values, wanted.values);
  ASSERT_EQ(read.sections.size(), wanted.replicated.size());
  for (const auto& [section, tensors] : wanted.replicated) {
    ASSERT_EQ(read.sections.count(section), 1u) << section;
    ASSERT_EQ(read.sections.at(section).size(), tensors.size()) << section;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(read.sections.at(section)[i].first, tensors[i].first);
      EXPECT_TRUE(at::equal(read.sections.at(section)[i].second, tensors[i].second)) << tensors[i].first;
    }
  }
}

}  // namespace tandem::testing
