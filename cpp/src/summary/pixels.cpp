#include "summary/pixels.h"

#include <algorithm>
#include <sstream>

#include "tandem/error.h"

namespace tandem {
namespace {

constexpr std::int64_t kImagesInRow = 8;
constexpr std::int64_t kMostBytes = 1 << 30;

const char* name_of(ImageDataFormat layout) {
  switch (layout) {
    case ImageDataFormat::kCHW:
      return "CHW";
    case ImageDataFormat::kHWC:
      return "HWC";
    case ImageDataFormat::kHW:
      return "HW";
    case ImageDataFormat::kNCHW:
      return "NCHW";
    case ImageDataFormat::kNHWC:
      return "NHWC";
  }
  return "unknown";
}

[[noreturn]] void refuse(const std::string& tag, const at::Tensor& image, ImageDataFormat layout, const std::string& why) {
  std::ostringstream message;
  message << "image \"" << tag << "\" of shape " << image.sizes() << " and dtype " << image.dtype() << " as "
          << name_of(layout) << ": " << why;
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

// [images, height, width, channels] → one picture, rows filled with black.
at::Tensor grid(const at::Tensor& images) {
  const std::int64_t count = images.size(0), height = images.size(1), width = images.size(2);
  const std::int64_t columns = std::min(count, kImagesInRow), rows = (count + columns - 1) / columns;
  at::Tensor whole = at::zeros({rows * columns, height, width, images.size(3)}, images.options());
  whole.narrow(0, 0, count).copy_(images);
  return whole.view({rows, columns, height, width, -1})
      .permute({0, 2, 1, 3, 4})
      .reshape({rows * height, columns * width, -1});
}

}  // namespace

at::Tensor to_pixels(const std::string& tag, const at::Tensor& image, ImageDataFormat layout) {
  const bool batch = layout == ImageDataFormat::kNCHW || layout == ImageDataFormat::kNHWC;
  const std::int64_t dimensions = layout == ImageDataFormat::kHW ? 2 : batch ? 4 : 3;
  if (image.dim() != dimensions) refuse(tag, image, layout, "it needs " + std::to_string(dimensions) + " dimensions");
  if (image.numel() == 0) refuse(tag, image, layout, "it has no pixels");
  at::Tensor pixels = image.detach().cpu();
  if (layout == ImageDataFormat::kHW) pixels = pixels.unsqueeze(2);
  if (layout == ImageDataFormat::kCHW || layout == ImageDataFormat::kNCHW) pixels = pixels.movedim(-3, -1);
  const std::int64_t channels = pixels.size(-1);
  if (channels != 1 && channels != 3 && channels != 4) {
    refuse(tag, image, layout, "it has " + std::to_string(channels) + " channels; 1, 3 and 4 can be shown");
  }
  if (pixels.is_floating_point()) {
    pixels = at::nan_to_num(pixels.to(at::kFloat) * 255, 0).clamp(0, 255).to(at::kByte);
  } else if (pixels.scalar_type() != at::kByte) {
    refuse(tag, image, layout, "give uint8 from 0 to 255, or floating point from 0 to 1");
  }
  if (batch) pixels = grid(pixels);
  if (pixels.numel() > kMostBytes) refuse(tag, image, layout, "it has more than 1 GiB of pixels");
  return pixels.contiguous();
}

}  // namespace tandem
