#include <algorithm>
#include <array>
#include <vector>

#include "base/invalid.h"
#include "tandem/nn_functional.h"

namespace tandem::nn::functional {
namespace {

using Factors = std::optional<at::ArrayRef<double>>;

struct Mode {
  const char* name;
  std::int64_t spatial;  // dimensions that it is for; 0: 1 to 3
  bool aligns, antialiases;
};
constexpr std::array<Mode, 7> kModes = {{{"nearest", 0, false, false},
                                         {"nearest-exact", 0, false, false},
                                         {"area", 0, false, false},
                                         {"linear", 1, true, false},
                                         {"bilinear", 2, true, true},
                                         {"bicubic", 2, true, true},
                                         {"trilinear", 3, true, false}}};

const Mode& mode_of(const std::string& name) {
  const auto* found = std::find_if(kModes.begin(), kModes.end(), [&](const Mode& mode) { return name == mode.name; });
  if (found != kModes.end()) return *found;
  invalid("interpolate knows no mode \"" + name +
          "\"; it knows nearest, nearest-exact, area, linear, bilinear, bicubic and trilinear");
}

void check(const at::Tensor& input, const Mode& mode, bool has_align_corners, bool antialias) {
  const std::int64_t spatial = input.dim() - 2;
  if (spatial < 1 || spatial > 3) {
    invalid("interpolate takes [batch, channels] and 1 to 3 dimensions more, not sizes " + c10::str(input.sizes()));
  }
  if (mode.spatial != 0 && mode.spatial != spatial) {
    invalid("interpolate: mode \"" + std::string(mode.name) + "\" is for " + std::to_string(mode.spatial) +
            " dimensions behind [batch, channels]; the input's sizes are " + c10::str(input.sizes()));
  }
  if (has_align_corners && !mode.aligns) {
    invalid("interpolate: mode \"" + std::string(mode.name) +
            "\" takes no align_corners; linear, bilinear, bicubic and trilinear do");
  }
  if (antialias && !mode.antialiases) {
    invalid("interpolate: mode \"" + std::string(mode.name) + "\" takes no antialias; bilinear and bicubic do");
  }
}

// One number for each spatial dimension.
template <typename T>
std::vector<T> for_each_dimension(at::ArrayRef<T> given, const at::Tensor& input, const char* name) {
  const auto spatial = static_cast<std::size_t>(input.dim() - 2);
  if (given.size() == 1) return std::vector<T>(spatial, given[0]);
  if (given.size() == spatial) return given.vec();
  invalid("interpolate: " + std::string(name) + " has " + std::to_string(given.size()) + " numbers for the " +
          std::to_string(spatial) + " dimensions behind [batch, channels] of " + c10::str(input.sizes()));
}

at::Tensor nearest(const at::Tensor& input, at::OptionalIntArrayRef size, const Factors& factors, bool exact) {
  switch (input.dim()) {
    case 3:
      return exact ? at::_upsample_nearest_exact1d(input, size, factors) : at::upsample_nearest1d(input, size, factors);
    case 4:
      return exact ? at::_upsample_nearest_exact2d(input, size, factors) : at::upsample_nearest2d(input, size, factors);
    default:
      return exact ? at::_upsample_nearest_exact3d(input, size, factors) : at::upsample_nearest3d(input, size, factors);
  }
}

at::Tensor area(const at::Tensor& input, at::IntArrayRef size) {
  switch (input.dim()) {
    case 3:
      return at::adaptive_avg_pool1d(input, size);
    case 4:
      return at::adaptive_avg_pool2d(input, size);
    default:
      return at::adaptive_avg_pool3d(input, size);
  }
}

at::Tensor linear(const at::Tensor& input, at::OptionalIntArrayRef size, const Factors& factors, bool align_corners,
                  bool antialias) {
  switch (input.dim()) {
    case 3:
      return at::upsample_linear1d(input, size, align_corners, factors);
    case 4:
      return antialias ? at::_upsample_bilinear2d_aa(input, size, align_corners, factors)
                       : at::upsample_bilinear2d(input, size, align_corners, factors);
    default:
      return at::upsample_trilinear3d(input, size, align_corners, factors);
  }
}

}  // namespace

at::Tensor interpolate(const at::Tensor& input, at::OptionalIntArrayRef size,
                       std::optional<at::ArrayRef<double>> scale_factor, const std::string& name,
                       std::optional<bool> align_corners, bool recompute_scale_factor, bool antialias) {
  const Mode& mode = mode_of(name);
  check(input, mode, align_corners.has_value(), antialias);
  if (size.has_value() == scale_factor.has_value()) {
    invalid(std::string("interpolate takes size or scale_factor, and ") + (size ? "both were" : "none was") + " given");
  }
  if (recompute_scale_factor && size)
    invalid("interpolate: recompute_scale_factor goes with scale_factor, not with size");
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;
  if (size) {
    sizes = for_each_dimension(*size, input, "size");
  } else {
    scales = for_each_dimension(*scale_factor, input, "scale_factor");
    if (recompute_scale_factor || name == "area") {
      for (std::size_t i = 0; i < scales.size(); ++i) {
        sizes.push_back(
            static_cast<std::int64_t>(static_cast<double>(input.size(static_cast<std::int64_t>(i) + 2)) * scales[i]));
      }
    }
  }
  const at::OptionalIntArrayRef to = sizes.empty() ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(sizes);
  const Factors by = sizes.empty() ? Factors(scales) : Factors();
  const bool corners = align_corners.value_or(false);
  if (name == "area") return area(input, sizes);
  if (name == "bicubic") {
    return antialias ? at::_upsample_bicubic2d_aa(input, to, corners, by)
                     : at::upsample_bicubic2d(input, to, corners, by);
  }
  return mode.aligns ? linear(input, to, by, corners, antialias) : nearest(input, to, by, name == "nearest-exact");
}

}  // namespace tandem::nn::functional
