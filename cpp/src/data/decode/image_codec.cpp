#include "tandem/image_codec.h"

#include <ATen/ops/empty.h>

#include "base/invalid.h"
#include "data/decode/image_plan.h"
#include "tandem/error.h"

namespace tandem {
namespace {

std::string text_of(const ImageWindow& window) {
  return std::to_string(window.height) + " × " + std::to_string(window.width) + " at row " +
         std::to_string(window.top) + ", column " + std::to_string(window.left);
}

}  // namespace

std::vector<std::int64_t> ImagePlan::sizes(ImageLayout layout) const {
  const image::Window& window = request.window;
  if (layout == ImageLayout::kHWC) return {window.height, window.width, channels};
  return {channels, window.height, window.width};
}

ImagePlan plan_image(std::unique_ptr<image::Picture> picture, const ImageDecodeOptions& options) {
  const image::Header header = picture->header();
  const std::int64_t height = header.height, width = header.width;
  const ImageWindow window = options.window.value_or(ImageWindow{0, 0, height, width});
  if (window.height < 1 || window.width < 1 || window.top < 0 || window.left < 0 ||
      window.top > height - window.height || window.left > width - window.width) {
    invalid("the window of " + text_of(window) + " does not lie in the picture of " + std::to_string(height) + " × " +
            std::to_string(width));
  }
  if (options.mode != ImageMode::kUnchanged && options.mode != ImageMode::kGray && options.mode != ImageMode::kRGB) {
    invalid("there is no image mode " + std::to_string(static_cast<int>(options.mode)));
  }
  ImagePlan plan{std::move(picture), {}, static_cast<int>(options.mode)};
  if (options.mode == ImageMode::kUnchanged) plan.channels = header.channels;
  image::Request& request = plan.request;
  request.channels = static_cast<int>(options.mode);
  request.strict = options.strict;
  if (options.min_height > 0 && options.min_width > 0 && header.format == image::Format::kJpeg) {
    const auto enough = [&](int eighths) {
      return window.height * eighths / 8 >= options.min_height && window.width * eighths / 8 >= options.min_width;
    };
    request.eighths = 1;
    while (request.eighths < 8 && !enough(request.eighths)) request.eighths *= 2;
  }
  const int eighths = request.eighths;
  request.window.top = window.top * eighths / 8;
  request.window.left = window.left * eighths / 8;
  request.window.height = image::scaled(window.top + window.height, eighths) - request.window.top;
  request.window.width = image::scaled(window.left + window.width, eighths) - request.window.left;
  return plan;
}

image::Target target_of(const at::Tensor& tensor, ImageLayout layout) {
  const auto strides = tensor.strides();
  auto* const data = static_cast<std::uint8_t*>(tensor.mutable_data_ptr());
  if (layout == ImageLayout::kHWC) return {data, strides[2], strides[0], strides[1]};
  return {data, strides[0], strides[1], strides[2]};
}

void check_place(const at::Tensor& out, const std::vector<std::int64_t>& sizes) {
  if (!out.defined() || !out.is_cpu() || out.scalar_type() != at::kByte) {
    invalid("pictures are decoded into uint8 tensors on the CPU");
  }
  if (out.sizes() != at::IntArrayRef(sizes)) {
    invalid("the picture is " + c10::str(at::IntArrayRef(sizes)) + ", but its place is " + c10::str(out.sizes()) +
            "; give pictures of different sizes one size as they are decoded (ImageFit)");
  }
}

ImageInfo read_image_info(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options) {
  const image::Header header = image::open(bytes, options.max_pixels)->header();
  return {header.format == image::Format::kJpeg ? "jpeg" : "png", header.height, header.width, header.channels};
}

at::Tensor decode_image(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options) {
  const ImagePlan plan = plan_image(image::open(bytes, options.max_pixels), options);
  at::Tensor out = at::empty(plan.sizes(options.layout), at::kByte);
  plan.picture->decode(plan.request, target_of(out, options.layout));
  return out;
}

void decode_image_into(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options, const at::Tensor& out) {
  const ImagePlan plan = plan_image(image::open(bytes, options.max_pixels), options);
  check_place(out, plan.sizes(options.layout));
  plan.picture->decode(plan.request, target_of(out, options.layout));
}

}  // namespace tandem
