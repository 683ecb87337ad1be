// Steps that move pixels: crops, flips, sizes.
#include <c10/util/irange.h>

#include <cmath>

#include "data/transform/field_transform.h"
#include "tandem/sample_random.h"

namespace tandem {
namespace {

using namespace transform;

at::Tensor window_of(const at::Tensor& images, const ImageWindow& window) {
  return images.slice(-2, window.top, window.top + window.height).slice(-1, window.left, window.left + window.width);
}

class RandomCrop final : public FieldTransform {
 public:
  RandomCrop(Fields fields, const RandomCropOptions& options)
      : FieldTransform("random_crop", std::move(fields)), options_(options) {
    check_size("random_crop's height", options.height);
    check_size("random_crop's width", options.width);
    if (options.padding < 0 || options.padding > 1 << 20) {
      invalid("random_crop's padding is " + std::to_string(options.padding) + ", but must be from 0 to 1048576");
    }
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch& batch) const override {
    check_images(images, batch);
    const std::int64_t p = options_.padding;
    const at::Tensor padded = p > 0 ? at::constant_pad_nd(images, {p, p, p, p}, options_.fill) : images;
    if (padded.size(2) < options_.height || padded.size(3) < options_.width) {
      invalid("images of " + c10::str(images.sizes()) + " with " + std::to_string(p) + " pixels of padding have no " +
              std::to_string(options_.height) + " × " + std::to_string(options_.width));
    }
    at::Tensor out = at::empty({images.size(0), images.size(1), options_.height, options_.width}, images.options());
    for (const std::int64_t i : c10::irange(images.size(0))) {
      SampleRandom random(batch.sample_randomness[static_cast<std::size_t>(i)], "crop", options_.stream);
      ImageWindow window{0, 0, options_.height, options_.width};
      window.top = random.integer(0, padded.size(2) - window.height);
      window.left = random.integer(0, padded.size(3) - window.width);
      out[i].copy_(window_of(padded[i], window));
    }
    return out;
  }

  RandomCropOptions options_;
};

class CenterCrop final : public FieldTransform {
 public:
  CenterCrop(Fields fields, std::int64_t height, std::int64_t width)
      : FieldTransform("center_crop", std::move(fields)), height_(height), width_(width) {
    check_size("center_crop's height", height);
    check_size("center_crop's width", width);
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch&) const override {
    check_images(images);
    at::Tensor padded = images;
    const std::int64_t above = std::max<std::int64_t>(height_ - images.size(2), 0);
    const std::int64_t beside = std::max<std::int64_t>(width_ - images.size(3), 0);
    if (above || beside) {
      padded = at::constant_pad_nd(images, {beside / 2, beside - beside / 2, above / 2, above - above / 2});
    }
    // Python's round(), as torchvision has it: halves go to the even number.
    const auto half = [](std::int64_t n) {
      return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(n) / 2));
    };
    return window_of(padded, {half(padded.size(2) - height_), half(padded.size(3) - width_), height_, width_})
        .contiguous();
  }

  std::int64_t height_, width_;
};

class RandomHorizontalFlip final : public FieldTransform {
 public:
  RandomHorizontalFlip(Fields fields, double probability, std::uint64_t stream)
      : FieldTransform("random_horizontal_flip", std::move(fields)), probability_(probability), stream_(stream) {
    if (!(probability >= 0 && probability <= 1)) {
      invalid("random_horizontal_flip: probability is " + std::to_string(probability) + ", but must be from 0 to 1");
    }
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch& batch) const override {
    check_images(images, batch);
    std::vector<std::int64_t> flipped;
    for (const std::size_t i : c10::irange(batch.sample_randomness.size())) {
      if (SampleRandom(batch.sample_randomness[i], "flip", stream_).chance(probability_)) {
        flipped.push_back(static_cast<std::int64_t>(i));
      }
    }
    if (flipped.empty()) return images;
    const at::Tensor index = at::tensor(flipped, at::kLong).to(images.device());
    return images.index_copy(0, index, images.index_select(0, index).flip(-1));
  }

  double probability_;
  std::uint64_t stream_;
};

class Resize final : public FieldTransform {
 public:
  Resize(Fields fields, const ResizeOptions& options) : FieldTransform("resize", std::move(fields)), options_(options) {
    check_resize(options);
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch&) const override {
    check_images(images);
    return interpolated(images, options_);
  }

  ResizeOptions options_;
};

class RandomResizedCrop final : public FieldTransform {
 public:
  RandomResizedCrop(Fields fields, const RandomResizedCropOptions& options)
      : FieldTransform("random_resized_crop", std::move(fields)), options_(options) {
    check_resize(options.resize);
    random_window(1, 1, options.window, 0);  // refuses ranges that are none
  }

 private:
  at::Tensor changed(const at::Tensor& images, const Batch& batch) const override {
    check_images(images, batch);
    at::Tensor out =
        at::empty({images.size(0), images.size(1), options_.resize.height, options_.resize.width}, images.options());
    for (const std::int64_t i : c10::irange(images.size(0))) {
      const std::uint64_t randomness = batch.sample_randomness[static_cast<std::size_t>(i)];
      const ImageWindow window =
          random_window(images.size(2), images.size(3), options_.window, randomness, options_.stream);
      out.narrow(0, i, 1).copy_(interpolated(window_of(images.narrow(0, i, 1), window), options_.resize));
    }
    return out;
  }

  RandomResizedCropOptions options_;
};

}  // namespace

std::unique_ptr<BatchTransform> random_crop(Fields fields, RandomCropOptions options) {
  return std::make_unique<RandomCrop>(std::move(fields), options);
}

std::unique_ptr<BatchTransform> center_crop(Fields fields, std::int64_t height, std::int64_t width) {
  return std::make_unique<CenterCrop>(std::move(fields), height, width);
}

std::unique_ptr<BatchTransform> random_horizontal_flip(Fields fields, double probability, std::uint64_t stream) {
  return std::make_unique<RandomHorizontalFlip>(std::move(fields), probability, stream);
}

std::unique_ptr<BatchTransform> resize(Fields fields, ResizeOptions options) {
  return std::make_unique<Resize>(std::move(fields), options);
}

std::unique_ptr<BatchTransform> random_resized_crop(Fields fields, RandomResizedCropOptions options) {
  return std::make_unique<RandomResizedCrop>(std::move(fields), options);
}

}  // namespace tandem
