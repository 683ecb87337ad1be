// JPEG and PNG to tensors: libjpeg-turbo and libpng behind tensors, as torchvision.io.decode_image offers them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/export.h"

namespace tandem {

struct ImageInfo {
  std::string format;  // "jpeg" or "png"
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;  // of kUnchanged: 1 gray, 2 with alpha, 3 RGB, 4 with alpha
};

// Numbers are those of channels; torchvision's ImageReadMode.
enum class ImageMode : std::int32_t {
  kUnchanged = 0,  // palettes become RGB, and so does CMYK
  kGray = 1,
  kRGB = 3,
};

enum class ImageLayout : std::int32_t { kCHW = 0, kHWC = 1 };

// A part of a picture, in pixels.
struct ImageWindow {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct ImageDecodeOptions {
  ImageMode mode = ImageMode::kUnchanged;
  ImageLayout layout = ImageLayout::kCHW;
  // A larger picture is refused before memory is taken for it: a small file can claim billions. The default is
  // Pillow's.
  std::int64_t max_pixels = 178'956'970;
  // What libjpeg would paint over with a warning (bits that were flipped, bytes too many) is an error.
  bool strict = false;
  // Only this part is decoded, to the same pixels as with the whole; a JPEG's other columns and rows cost little.
  std::optional<ImageWindow> window;
  // When both are set, a JPEG is decoded at 1/2, 1/4 or 1/8 of its size as long as the result (of the window) has at
  // least so many rows and columns: quicker, and not the same as decoding and resizing. PNG: no effect.
  std::int64_t min_height = 0;
  std::int64_t min_width = 0;
};

// Reads the header alone. Errors: Error(kDataLoss) for what is no JPEG or PNG, or has a damaged header.
TANDEM_API ImageInfo read_image_info(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options = {});

// A uint8 tensor [channels, height, width], or [height, width, channels]; samples of 16 bits become 8.
// Errors: Error(kDataLoss) that says what is wrong with the bytes (truncated, damaged, too large, no picture), and
// kInvalidArgument for options. Thread-safe.
TANDEM_API at::Tensor decode_image(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options = {});

// The same into memory that is there, such as a picture's place in a batch: a uint8 CPU tensor of the layout's shape
// and any strides. Throws Error(kInvalidArgument) that names both shapes where the picture has another one.
TANDEM_API void decode_image_into(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options,
                                  const at::Tensor& out);

}  // namespace tandem
