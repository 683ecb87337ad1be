// What moves pixels: windows as columns, sampling at places.
#include <algorithm>
#include <array>
#include <vector>

#include "base/invalid.h"
#include "tandem/nn_functional.h"

namespace tandem::nn::functional {
namespace {

std::vector<std::int64_t> pair(at::IntArrayRef given, const char* caller, const char* name) {
  if (given.size() == 1) return {given[0], given[0]};
  if (given.size() == 2) return given.vec();
  invalid(std::string(caller) + ": " + name + " is one number or two, of height and width, not " + c10::str(given));
}

// The number that LibTorch's grid_sampler has for a name.
std::int64_t number_of(const std::string& name, const char* argument, const std::array<const char*, 3>& names) {
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  invalid(std::string("grid_sample: ") + argument + " is \"" + names[0] + "\", \"" + names[1] + "\" or \"" + names[2] +
          "\", not \"" + name + "\"");
}

}  // namespace

at::Tensor unfold(const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef dilation,
                  at::IntArrayRef padding, at::IntArrayRef stride) {
  return at::im2col(input, pair(kernel_size, "unfold", "kernel_size"), pair(dilation, "unfold", "dilation"),
                    pair(padding, "unfold", "padding"), pair(stride, "unfold", "stride"));
}

at::Tensor fold(const at::Tensor& input, at::IntArrayRef output_size, at::IntArrayRef kernel_size,
                at::IntArrayRef dilation, at::IntArrayRef padding, at::IntArrayRef stride) {
  return at::col2im(input, pair(output_size, "fold", "output_size"), pair(kernel_size, "fold", "kernel_size"),
                    pair(dilation, "fold", "dilation"), pair(padding, "fold", "padding"),
                    pair(stride, "fold", "stride"));
}

at::Tensor grid_sample(const at::Tensor& input, const at::Tensor& grid, const std::string& mode,
                       const std::string& padding_mode, bool align_corners) {
  const std::int64_t how = number_of(mode, "mode", {"bilinear", "nearest", "bicubic"});
  const std::int64_t outside = number_of(padding_mode, "padding_mode", {"zeros", "border", "reflection"});
  return at::grid_sampler(input, grid, how, outside, align_corners);
}

at::Tensor affine_grid(const at::Tensor& theta, at::IntArrayRef size, bool align_corners) {
  if (size.size() != 4 && size.size() != 5) {
    invalid("affine_grid: size is [batch, channels, height, width] or [batch, channels, depth, height, width], not " +
            c10::str(size));
  }
  if (!theta.is_floating_point()) {
    invalid("affine_grid: theta is of a floating point type, not " + c10::str(theta.scalar_type()));
  }
  const std::vector<std::int64_t> maps =
      size.size() == 4 ? std::vector<std::int64_t>{size[0], 2, 3} : std::vector<std::int64_t>{size[0], 3, 4};
  if (theta.sizes() != at::IntArrayRef(maps)) {
    invalid("affine_grid: theta is " + c10::str(at::IntArrayRef(maps)) + " for size " + c10::str(size) + ", not " +
            c10::str(theta.sizes()));
  }
  if (*std::min_element(size.begin(), size.end()) <= 0) {
    invalid("affine_grid: each number of size is positive, not as in " + c10::str(size));
  }
  return at::affine_grid_generator(theta, size, align_corners);
}

}  // namespace tandem::nn::functional
