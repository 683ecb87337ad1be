#include "tandem/image_fit.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/invalid.h"
#include "data/decode/image_plan.h"
#include "tandem/error.h"
#include "tandem/sample_random.h"

namespace tandem {
namespace {

constexpr std::int64_t kMostPixelsASide = 1 << 20;

void check_range(const char* name, const std::array<double, 2>& range) {
  if (!(range[0] > 0) || !(range[1] >= range[0]) || !std::isfinite(range[1])) {
    invalid(std::string(name) + " is from " + std::to_string(range[0]) + " to " + std::to_string(range[1]) +
            "; both must be positive, the second not less than the first");
  }
}

// [height, width, channels] to another size; uint8 stays uint8.
at::Tensor resized(const at::Tensor& pixels, std::int64_t height, std::int64_t width, bool antialias) {
  if (pixels.size(0) == height && pixels.size(1) == width) return pixels;
  // The batch's stride tells LibTorch that channels come last, so that the result is like that too.
  const at::Tensor image = pixels.unsqueeze(0).permute({0, 3, 1, 2});
  const at::Tensor result = antialias ? at::_upsample_bilinear2d_aa(image, {height, width}, false)
                                      : at::upsample_bilinear2d(image, {height, width}, false);
  return result.permute({0, 2, 3, 1}).squeeze(0).contiguous();
}

// Python's round(): halves go to the even number.
std::int64_t half(std::int64_t difference) {
  return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(difference) / 2));
}

// Rows of contiguous pixels [height, width, channels] to where they belong; of RGBX where there are 3 of 4 channels.
void store(const at::Tensor& pixels, std::int64_t channels, const image::Target& target) {
  const auto* data = pixels.const_data_ptr<std::uint8_t>();
  const std::int64_t width = pixels.size(1);
  for (std::int64_t y = 0; y < pixels.size(0); ++y, data += width * pixels.size(2)) {
    if (pixels.size(2) == channels) {
      image::store_row(data, static_cast<int>(channels), width, y, target);
    } else {
      image::store_rgbx_row(data, width, y, target);
    }
  }
}

// One picture that is to be fitted.
class Fitting {
 public:
  Fitting(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options, const ImageFit& fit,
          std::uint64_t randomness)
      : layout_(options.layout), options_(options), fit_(fit) {
    if (options.window) invalid("a picture that is fitted takes no window beside");
    if (fit.kind < ImageFit::Kind::kNone || fit.kind > ImageFit::Kind::kRandomResizedCrop) {
      invalid("there is no image fit " + std::to_string(static_cast<int>(fit.kind)));
    }
    const bool sized = fit.kind != ImageFit::Kind::kNone;
    const auto possible = [](std::int64_t side) { return side >= 1 && side <= kMostPixelsASide; };
    if (sized && (!possible(fit.height) || !possible(fit.width) || fit.shorter < 0 || fit.shorter > kMostPixelsASide)) {
      invalid("an image fit of " + std::to_string(fit.height) + " × " + std::to_string(fit.width) +
              " pixels, shorter side " + std::to_string(fit.shorter) + ": sides are from 1 to " +
              std::to_string(kMostPixelsASide));
    }
    picture_ = image::open(bytes, options.max_pixels);
    const image::Header header = picture_->header();
    if (fit.kind == ImageFit::Kind::kRandomResizedCrop) {
      options_.window = random_window(header.height, header.width, fit.window, randomness, fit.stream);
    }
    jpeg_ = header.format == image::Format::kJpeg;
    height_ = sized ? fit.height : header.height;
    width_ = sized ? fit.width : header.width;
    channels_ = options.mode == ImageMode::kUnchanged ? header.channels : static_cast<int>(options.mode);
    flip_ = fit.flip && SampleRandom(randomness, "flip", fit.stream).chance(0.5);
    if (fit.kind == ImageFit::Kind::kCenterCrop) {
      resized_height_ = header.height;
      resized_width_ = header.width;
      if (fit.shorter > 0) {
        const std::int64_t longer =
            fit.shorter * std::max(header.height, header.width) / std::min(header.height, header.width);
        resized_height_ = header.height <= header.width ? fit.shorter : longer;
        resized_width_ = header.height <= header.width ? longer : fit.shorter;
        if (longer > options.max_pixels / fit.shorter) {
          invalid("the picture of " + std::to_string(header.height) + " × " + std::to_string(header.width) +
                  " resized to a shorter side of " + std::to_string(fit.shorter) + " has more than max_pixels");
        }
      }
    } else {
      resized_height_ = height_;
      resized_width_ = width_;
    }
    if (fit.fast_scaling && sized) {
      options_.min_height = resized_height_;
      options_.min_width = resized_width_;
    }
    options_.layout = ImageLayout::kHWC;
  }

  std::vector<std::int64_t> sizes() const {
    if (layout_ == ImageLayout::kHWC) return {height_, width_, channels_};
    return {channels_, height_, width_};
  }

  void run(const at::Tensor& out) {
    image::Target target = target_of(out, layout_);
    if (flip_) {
      target.data += (width_ - 1) * target.pixel;
      target.pixel = -target.pixel;
    }
    ImagePlan plan = plan_image(std::move(picture_), options_);
    const image::Window& window = plan.request.window;
    const bool right_size = window.height == resized_height_ && window.width == resized_width_;
    const bool whole = resized_height_ == height_ && resized_width_ == width_;
    if (right_size && whole) {
      plan.picture->decode(plan.request, target);
      return;
    }
    plan.request.rgbx = jpeg_ && channels_ == 3;
    at::Tensor pixels = at::empty({window.height, window.width, plan.request.rgbx ? 4 : channels_}, at::kByte);
    plan.picture->decode(plan.request, target_of(pixels, ImageLayout::kHWC));
    pixels = resized(pixels, resized_height_, resized_width_, fit_.antialias);
    store(whole ? pixels : middle(pixels), channels_, target);
  }

 private:
  at::Tensor middle(const at::Tensor& pixels) const {
    const std::int64_t above = std::max<std::int64_t>(height_ - resized_height_, 0);
    const std::int64_t beside = std::max<std::int64_t>(width_ - resized_width_, 0);
    at::Tensor result = pixels;
    if (above || beside) {
      result = at::zeros({resized_height_ + above, resized_width_ + beside, pixels.size(2)}, at::kByte);
      result.narrow(0, above / 2, resized_height_).narrow(1, beside / 2, resized_width_).copy_(pixels);
    }
    return result.narrow(0, half(result.size(0) - height_), height_)
        .narrow(1, half(result.size(1) - width_), width_)
        .contiguous();
  }

  const ImageLayout layout_;  // the caller's; pixels are interleaved until the end
  ImageDecodeOptions options_;
  const ImageFit& fit_;
  std::unique_ptr<image::Picture> picture_;
  bool jpeg_;
  std::int64_t height_, width_, channels_;       // of the result
  std::int64_t resized_height_, resized_width_;  // before its middle is taken
  bool flip_;
};

}  // namespace

ImageWindow random_window(std::int64_t height, std::int64_t width, const RandomWindowOptions& options,
                          std::uint64_t randomness, std::uint64_t stream) {
  check_range("scale", options.scale);
  check_range("ratio", options.ratio);
  SampleRandom random(randomness, "random_window", stream);
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double wanted = area * random.uniform(options.scale[0], options.scale[1]);
    const double ratio = std::exp(random.uniform(std::log(options.ratio[0]), std::log(options.ratio[1])));
    const double w = std::nearbyint(std::sqrt(wanted * ratio)), h = std::nearbyint(std::sqrt(wanted / ratio));
    if (w < 1 || h < 1 || w > static_cast<double>(width) || h > static_cast<double>(height)) continue;
    ImageWindow window{0, 0, static_cast<std::int64_t>(h), static_cast<std::int64_t>(w)};
    window.top = random.integer(0, height - window.height);
    window.left = random.integer(0, width - window.width);
    return window;
  }
  ImageWindow window{0, 0, height, width};
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  const auto rounded = [](double side) { return std::max<std::int64_t>(1, std::llrint(side)); };
  if (ratio < options.ratio[0]) {
    window.height = std::min(height, rounded(static_cast<double>(width) / options.ratio[0]));
  } else if (ratio > options.ratio[1]) {
    window.width = std::min(width, rounded(static_cast<double>(height) * options.ratio[1]));
  }
  window.top = (height - window.height) / 2;
  window.left = (width - window.width) / 2;
  return window;
}

at::Tensor decode_fitted(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options, const ImageFit& fit,
                         std::uint64_t randomness) {
  Fitting fitting(bytes, options, fit, randomness);
  at::Tensor out = at::empty(fitting.sizes(), at::kByte);
  fitting.run(out);
  return out;
}

void decode_fitted_into(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options, const ImageFit& fit,
                        std::uint64_t randomness, const at::Tensor& out) {
  Fitting fitting(bytes, options, fit, randomness);
  check_place(out, fitting.sizes());
  fitting.run(out);
}

}  // namespace tandem
