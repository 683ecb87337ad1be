// Options that several networks have.
#pragma once

#include <limits>
#include <string>

#include "nn/registry.h"

namespace tandem::models {

using nn::Made;
using nn::ModuleOptions;
using nn::Registered;
using std::int64_t;

// Sizes of networks: their products, in bytes, stay far from 2^63, and what memory does not hold is LibTorch's error.
inline constexpr int64_t kLargestSize = 1 << 24;
// Making each layer takes time.
inline constexpr int64_t kMostLayers = 1000;

inline void check_range(const ModuleOptions& o, const char* name, int64_t given, int64_t most = kLargestSize) {
  if (given < 1 || given > most) {
    o.refuse(name, "must be from 1 to " + std::to_string(most) + ", not " + std::to_string(given));
  }
}

inline void check_probability(const ModuleOptions& o, const char* name, double given) {
  if (!(given >= 0 && given <= 1)) o.refuse(name, "is a probability from 0 to 1, not " + std::to_string(given));
}

inline void check_std(const ModuleOptions& o, const char* name, double given) {
  if (!(given >= 0 && given <= std::numeric_limits<float>::max())) {
    o.refuse(name, "is a standard deviation, at least 0, not " + std::to_string(given));
  }
}

}  // namespace tandem::models
