// The formulas are torchvision's (transforms/v2/functional/_color.py), so that pictures come out as there.
#include <c10/util/irange.h>

#include <algorithm>
#include <cmath>

#include "data/transform/field_transform.h"
#include "tandem/sample_random.h"

namespace tandem {
namespace {

using namespace transform;

double bound_of(const at::Tensor& image) {
  return image.is_floating_point() ? 1 : 255;
}

void check_colors(const at::Tensor& image) {
  if (image.dim() < 3 || (image.size(-3) != 3 && image.size(-3) != 1)) {
    invalid("pictures have 3 channels or 1, [..., C, H, W], but these are " + c10::str(image.sizes()));
  }
  if (image.scalar_type() != at::kByte && !image.is_floating_point()) {
    invalid(std::string("pictures are uint8 or floating, not ") + c10::toString(image.scalar_type()));
  }
}

// Floating pictures keep their dtype, others are computed in float32.
at::Tensor computable(const at::Tensor& image) {
  return image.is_floating_point() ? image : image.to(at::kFloat);
}

at::Tensor gray_of(const at::Tensor& image) {
  const at::Tensor x = computable(image);
  at::Tensor gray = x.select(-3, 0).mul(0.2989).add_(x.select(-3, 1), 0.587).add_(x.select(-3, 2), 0.114);
  if (!image.is_floating_point()) gray.floor_();
  return gray.unsqueeze(-3);
}

// image · ratio + other · (1 − ratio)
at::Tensor blend(const at::Tensor& image, const at::Tensor& other, double ratio) {
  return computable(image).mul(ratio).add_(other, 1 - ratio).clamp_(0, bound_of(image)).to(image.scalar_type());
}

struct Hsv {
  at::Tensor hue, saturation, value;  // of 0 … 1
};

Hsv hsv_of(const at::Tensor& rgb) {
  const at::Tensor r = rgb.select(-3, 0), g = rgb.select(-3, 1), b = rgb.select(-3, 2);
  const at::Tensor most = rgb.amax(-3), range = most - rgb.amin(-3);
  const at::Tensor gray = range == 0;
  const at::Tensor divisor = at::where(gray, 1, range);
  const at::Tensor rc = (most - r) / divisor, gc = (most - g) / divisor, bc = (most - b) / divisor;
  const at::Tensor sixths = at::where(most == r, bc - gc, at::where(most == g, rc - bc + 2, gc - rc + 4));
  return {(sixths / 6 + 1).fmod_(1), range / at::where(gray, 1, most), most};
}

at::Tensor rgb_of(const Hsv& hsv) {
  const at::Tensor sixths = hsv.hue * 6;
  const at::Tensor floor = sixths.floor(), part = sixths - floor;
  const at::Tensor& s = hsv.saturation;
  const at::Tensor& v = hsv.value;
  const at::Tensor p = ((1 - s) * v).clamp_(0, 1);
  const at::Tensor q = ((1 - s * part) * v).clamp_(0, 1);
  const at::Tensor t = ((1 - s * (1 - part)) * v).clamp_(0, 1);
  const at::Tensor sector = floor.to(at::kLong).remainder_(6).unsqueeze(-3);
  // Of v, p, q, t: which is red, green and blue in each sixth of the circle.
  const at::Tensor choices = at::stack({v, p, q, t}, -3);
  const at::Tensor chosen = at::tensor({0, 2, 1, 1, 3, 0,  //
                                        3, 0, 0, 2, 1, 1,  //
                                        1, 1, 3, 0, 0, 2},
                                       at::kLong)
                                .view({3, 6})
                                .to(sector.device());
  std::vector<at::Tensor> channels;
  for (const std::int64_t c : c10::irange(3)) channels.push_back(chosen[c].take(sector));
  return choices.gather(-3, at::cat(channels, -3));
}

void check_factor_range(const char* name, const std::array<double, 2>& range) {
  if (!(range[0] >= 0) || !(range[1] >= range[0]) || !std::isfinite(range[1])) {
    invalid(std::string("color_jitter: ") + name + " is from " + std::to_string(range[0]) + " to " +
            std::to_string(range[1]) + ", but factors are ascending and not negative");
  }
}

class ColorJitter final : public FieldTransform {
 public:
  ColorJitter(Fields fields, const ColorJitterOptions& options)
      : FieldTransform("color_jitter", std::move(fields)), options_(options) {
    check_factor_range("brightness", options.brightness);
    check_factor_range("contrast", options.contrast);
    check_factor_range("saturation", options.saturation);
    if (!(options.hue[0] >= -0.5 && options.hue[0] <= options.hue[1] && options.hue[1] <= 0.5)) {
      invalid("color_jitter: hue is from " + std::to_string(options.hue[0]) + " to " + std::to_string(options.hue[1]) +
              ", but must ascend within -0.5 to 0.5");
    }
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch& batch) const override {
    check_images(images, batch);
    check_colors(images);
    at::Tensor out = at::empty_like(images);
    for (const std::int64_t i : c10::irange(images.size(0))) {
      out[i].copy_(jittered(images[i], batch.sample_randomness[static_cast<std::size_t>(i)]));
    }
    return out;
  }

  at::Tensor jittered(at::Tensor image, std::uint64_t randomness) const {
    SampleRandom random(randomness, "color_jitter", options_.stream);
    std::array<int, 4> order{0, 1, 2, 3};
    for (std::size_t i = 3; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i)))]);
    }
    // All are drawn, so that a range that is left out changes no other factor.
    const auto factor = [&](const std::array<double, 2>& range) { return random.uniform(range[0], range[1]); };
    const double brightness = factor(options_.brightness), contrast = factor(options_.contrast);
    const double saturation = factor(options_.saturation), hue = factor(options_.hue);
    for (const int step : order) {
      if (step == 0 && brightness != 1) image = adjust_brightness(image, brightness);
      if (step == 1 && contrast != 1) image = adjust_contrast(image, contrast);
      if (step == 2 && saturation != 1) image = adjust_saturation(image, saturation);
      if (step == 3 && hue != 0) image = adjust_hue(image, hue);
    }
    return image;
  }

  ColorJitterOptions options_;
};

}  // namespace

at::Tensor adjust_brightness(const at::Tensor& image, double factor) {
  check_colors(image);
  return computable(image).mul(factor).clamp_(0, bound_of(image)).to(image.scalar_type());
}

at::Tensor adjust_contrast(const at::Tensor& image, double factor) {
  check_colors(image);
  const at::Tensor gray = image.size(-3) == 3 ? gray_of(image) : computable(image);
  return blend(image, gray.mean({-3, -2, -1}, /*keepdim=*/true), factor);
}

at::Tensor adjust_saturation(const at::Tensor& image, double factor) {
  check_colors(image);
  return image.size(-3) == 3 ? blend(image, gray_of(image), factor) : image;
}

at::Tensor adjust_hue(const at::Tensor& image, double factor) {
  check_colors(image);
  if (!(factor >= -0.5 && factor <= 0.5)) {
    invalid("hue is turned by " + std::to_string(factor) + ", but that must be within -0.5 to 0.5");
  }
  if (image.size(-3) == 1 || image.numel() == 0) return image;
  const bool bytes = !image.is_floating_point();
  Hsv hsv = hsv_of(bytes ? image.to(at::kFloat).mul_(1. / 255) : image);
  hsv.hue = hsv.hue.add(factor).remainder_(1);
  const at::Tensor rgb = rgb_of(hsv);
  // What lies in a 256th of the range becomes that number.
  return bytes ? rgb.mul(256 - 1e-3).to(at::kByte) : rgb;
}

std::unique_ptr<BatchTransform> color_jitter(Fields fields, ColorJitterOptions options) {
  return std::make_unique<ColorJitter>(std::move(fields), options);
}

}  // namespace tandem
