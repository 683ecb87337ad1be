// What is asked of a picture's decoder, and the shape of what comes.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "data/decode/pixels.h"
#include "tandem/image_codec.h"

namespace tandem {

struct ImagePlan {
  std::unique_ptr<image::Picture> picture;
  image::Request request;
  std::int64_t channels;

  std::vector<std::int64_t> sizes(ImageLayout layout) const;
};

// Throws Error(kInvalidArgument) for a window outside of the picture.
ImagePlan plan_image(std::unique_ptr<image::Picture> picture, const ImageDecodeOptions& options);

// The memory of a uint8 CPU tensor of that layout.
image::Target target_of(const at::Tensor& tensor, ImageLayout layout);

// Throws Error(kInvalidArgument) unless `out` is a uint8 CPU tensor of these sizes.
void check_place(const at::Tensor& out, const std::vector<std::int64_t>& sizes);

}  // namespace tandem
