// CIFAR's binary version: records of fixed size, labels and then 3 × 32 × 32 pixels. Source:
// www.cs.toronto.edu/~kriz/cifar.html.
#pragma once

#include <cstdint>

#include "data/recordio/bytes.h"

namespace tandem::formats {

struct CifarLayout {
  std::uint64_t label_bytes;
  std::uint64_t record_bytes;
  std::uint8_t limits[2];  // labels are below

  bool labels_possible(recordio::Bytes labels) const {
    for (std::uint64_t i = 0; i < label_bytes; ++i) {
      if (labels[i] >= limits[i]) return false;
    }
    return true;
  }
};

inline constexpr std::uint64_t kCifarPixels = 3 * 32 * 32;
inline constexpr CifarLayout kCifar10Layout = {1, 1 + kCifarPixels, {10, 0}};
inline constexpr CifarLayout kCifar100Layout = {2, 2 + kCifarPixels, {20, 100}};  // coarse, fine

}  // namespace tandem::formats
