// What MXNet's im2rec puts before an image in a record.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/export.h"

namespace tandem {

struct MxNetImage {
  std::vector<float> labels;  // one at least
  std::uint64_t id = 0, id2 = 0;
  std::span<const std::uint8_t> content;  // the image's file, within the record
};

// Takes a record apart: u32 count, f32 label, u64 id, u64 id2, then `count` labels (0: the one before), then the image.
// Throws Error(kDataLoss) where the record is shorter than that. Source: mxnet, python/mxnet/recordio.py, IRHeader.
TANDEM_API MxNetImage parse_mxnet_image(std::span<const std::uint8_t> record);

}  // namespace tandem
