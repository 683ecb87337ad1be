// Images as rows of bytes.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "tandem/summary_writer.h"

namespace tandem {

// uint8 [height, width, channels] on the CPU, contiguous. `tag` names the image in errors (kInvalidArgument).
at::Tensor to_pixels(const std::string& tag, const at::Tensor& image, ImageDataFormat layout);

}  // namespace tandem
