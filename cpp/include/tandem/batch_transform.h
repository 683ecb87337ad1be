// Steps on whole batches: LibTorch's operators behind the names and defaults of torchvision.transforms.v2.
//
// Each function makes a step that changes the named fields and nothing else. Where it is random, a sample's outcome
// follows from its sample_randomness alone (sample_random.h): fields of one step share it (a picture and its mask are
// cut alike), and two steps of one kind that should differ get different `stream`s. Images are [N, C, H, W], uint8 or
// floating, on any device; they keep their dtype unless noted otherwise. Steps throw Error(kInvalidArgument) for
// options when they are made, and naming step and field for tensors of an unfit dtype or shape when they are applied.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/batch.h"
#include "tandem/export.h"
#include "tandem/image_fit.h"

namespace tandem {

using Fields = std::vector<std::string>;

// x · scale as float32. scale = 1/255: torchvision's ToDtype(float32, scale=True) of uint8.
TANDEM_API std::unique_ptr<BatchTransform> to_float(Fields fields, double scale = 1. / 255);

// (x · scale − mean) / std as float32 (float64 stays), with a mean and a std for each channel (dimension 1), or one for
// all. Any real dtype; uint8 pixels with scale = 1/255 are torchvision's ToDtype and Normalize in one pass.
TANDEM_API std::unique_ptr<BatchTransform> normalize(Fields fields, std::vector<double> mean, std::vector<double> std,
                                                     double scale = 1);

// Integers [N, …] to float32 [N, …, classes]: 1 at each class, `smoothing` of which is spread over all classes
// (CrossEntropyLoss's label_smoothing). Throws Error(kOutOfRange) that names sample and label for one that is no class.
TANDEM_API std::unique_ptr<BatchTransform> one_hot(Fields fields, std::int64_t classes, double smoothing = 0);

// A window of height × width, anywhere in the picture after `padding` pixels of `fill` on each side.
struct RandomCropOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t padding = 0;
  double fill = 0;
  std::uint64_t stream = 0;
};
TANDEM_API std::unique_ptr<BatchTransform> random_crop(Fields fields, RandomCropOptions options);

// The middle; pictures that are smaller get margins of zeros.
TANDEM_API std::unique_ptr<BatchTransform> center_crop(Fields fields, std::int64_t height, std::int64_t width);

// Mirrors left and right with this probability.
TANDEM_API std::unique_ptr<BatchTransform> random_horizontal_flip(Fields fields, double probability = 0.5,
                                                                  std::uint64_t stream = 0);

enum class Interpolation : std::int32_t { kNearest = 0, kBilinear = 1 };

// F.interpolate(…, antialias=…, align_corners=False); kNearest is for masks and takes no antialias.
struct ResizeOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};
TANDEM_API std::unique_ptr<BatchTransform> resize(Fields fields, ResizeOptions options);

// random_window() of each picture, resized. Where pictures are decoded anyway, ImageFit does it for less.
struct RandomResizedCropOptions {
  ResizeOptions resize{};
  RandomWindowOptions window{};
  std::uint64_t stream = 0;
};
TANDEM_API std::unique_ptr<BatchTransform> random_resized_crop(Fields fields, RandomResizedCropOptions options);

// Brightness, contrast and saturation are multiplied by factors from these ranges, hue is turned by a part of the
// circle, in an order that is random too; a range of {1, 1} (hue {0, 0}) leaves its property out. {1 − x, 1 + x} is
// torchvision's ColorJitter(x). Images of 3 channels, or of 1, where saturation and hue mean nothing.
struct ColorJitterOptions {
  std::array<double, 2> brightness{1, 1};
  std::array<double, 2> contrast{1, 1};
  std::array<double, 2> saturation{1, 1};
  std::array<double, 2> hue{0, 0};  // within −0.5 … 0.5
  std::uint64_t stream = 0;
};
TANDEM_API std::unique_ptr<BatchTransform> color_jitter(Fields fields, ColorJitterOptions options);

// A step of one's own. It may replace tensors, and append fields whose names are `adds`. Threads call it at once, for
// different batches.
TANDEM_API std::unique_ptr<BatchTransform> custom_step(std::function<void(Batch&)> step, Fields adds = {});

// The formulas of color_jitter, for images [..., C, H, W] (torchvision.transforms.v2.functional.adjust_*).
TANDEM_API at::Tensor adjust_brightness(const at::Tensor& image, double factor);
TANDEM_API at::Tensor adjust_contrast(const at::Tensor& image, double factor);
TANDEM_API at::Tensor adjust_saturation(const at::Tensor& image, double factor);
TANDEM_API at::Tensor adjust_hue(const at::Tensor& image, double factor);

}  // namespace tandem
