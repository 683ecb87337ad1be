// Pictures of any size to pictures of one size, while they are decoded.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <span>

#include "tandem/export.h"
#include "tandem/image_codec.h"

namespace tandem {

// Where torchvision's RandomResizedCrop cuts: the window's area is a part of the picture's, uniform in `scale`, its
// width through its height log-uniform in `ratio`; after ten draws that do not fit, the largest window in the middle
// whose ratio is allowed.
struct RandomWindowOptions {
  std::array<double, 2> scale{0.08, 1};
  std::array<double, 2> ratio{3. / 4, 4. / 3};
};
// A pure function of the picture's size, `randomness` (sample_random.h) and `stream`.
// Throws Error(kInvalidArgument) for ranges that are not positive and ascending.
TANDEM_API ImageWindow random_window(std::int64_t height, std::int64_t width, const RandomWindowOptions& options,
                                     std::uint64_t randomness, std::uint64_t stream = 0);

struct ImageFit {
  enum class Kind : std::int32_t {
    kNone = 0,               // as it is
    kResize = 1,             // to height × width, whatever that does to its proportions
    kCenterCrop = 2,         // its middle: the shorter side is resized to `shorter` first, or is as it is
    kRandomResizedCrop = 3,  // random_window(), resized
  };
  Kind kind = Kind::kNone;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t shorter = 0;    // of kCenterCrop; 0: no resizing. A picture that is too small gets black margins.
  RandomWindowOptions window{};  // of kRandomResizedCrop
  bool flip = false;           // horizontally, half of all samples
  std::uint64_t stream = 0;
  bool antialias = true;
  // Lets JPEGs be decoded at 1/2, 1/4 or 1/8 where that still has the size wanted (ImageDecodeOptions::min_height):
  // quicker for large pictures, slightly different from resizing them.
  bool fast_scaling = false;
};

// Decodes and fits one picture: uint8, of `options`' mode and layout; only the part that is used is decoded. Resizing
// is LibTorch's bilinear interpolation of uint8 tensors, which torchvision's v2.Resize calls too. `options` has no
// window.
TANDEM_API at::Tensor decode_fitted(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options,
                                    const ImageFit& fit, std::uint64_t randomness);
// The same into memory that is there.
TANDEM_API void decode_fitted_into(std::span<const std::uint8_t> bytes, const ImageDecodeOptions& options,
                                   const ImageFit& fit, std::uint64_t randomness, const at::Tensor& out);

}  // namespace tandem
