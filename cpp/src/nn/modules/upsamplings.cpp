#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

using InterpolateSettings = tn::functional::InterpolateFuncOptions;

template <typename T>
void repeat(std::optional<std::vector<T>>& numbers, int64_t dimensions) {
  if (numbers && numbers->size() == 1) numbers->resize(static_cast<std::size_t>(dimensions), (*numbers)[0]);
}

// With Python's defaults, which LibTorch warns of or does not have.
Made interpolated(ModuleOptions& o, InterpolateSettings s) {
  const bool nearest = std::holds_alternative<torch::enumtype::kNearest>(s.mode());
  const bool area = std::holds_alternative<torch::enumtype::kArea>(s.mode());
  if (!s.align_corners() && !nearest && !area) s.align_corners(false);
  if (!s.recompute_scale_factor()) s.recompute_scale_factor(false);
  return wrap_function(o, {"input"}, [s](tn::IdentityImpl&, const at::Tensor& input) {
    if (input.dim() < 3 || input.dim() > 5) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the input must have a batch, channels and one to three dimensions, not " + c10::str(input.sizes()));
    }
    InterpolateSettings own = s;
    repeat(own.size(), input.dim() - 2);
    repeat(own.scale_factor(), input.dim() - 2);
    if (own.scale_factor() && own.scale_factor()->size() != static_cast<std::size_t>(input.dim() - 2)) {
      throw Error(ErrorCode::kInvalidArgument, "scale_factor has " + std::to_string(own.scale_factor()->size()) +
                                                   " numbers; the input has " + std::to_string(input.dim() - 2) +
                                                   " dimensions after the channels");
    }
    return tn::functional::interpolate(input, own);
  });
}

// LibTorch's Upsample lacks nearest-exact and recompute_scale_factor.
Made upsample(ModuleOptions& o) {
  InterpolateSettings s;
  o.read("size", s.size()).read("scale_factor", s.scale_factor()).read("mode", s.mode());
  o.read("align_corners", s.align_corners()).read("recompute_scale_factor", s.recompute_scale_factor());
  return interpolated(o, s);
}

InterpolateSettings two_dimensional(ModuleOptions& o) {
  InterpolateSettings s;
  o.read("size", s.size()).read("scale_factor", s.scale_factor());
  return s;
}

Made upsampling_nearest2d(ModuleOptions& o) {
  return interpolated(o, two_dimensional(o).mode(torch::kNearest));
}

Made upsampling_bilinear2d(ModuleOptions& o) {
  return interpolated(o, two_dimensional(o).mode(torch::kBilinear).align_corners(true));
}

const Registered kUpsamplings[] = {
    {"Upsample", upsample},
    {"UpsamplingNearest2d", upsampling_nearest2d},
    {"UpsamplingBilinear2d", upsampling_bilinear2d},
};

}  // namespace

at::ArrayRef<Registered> upsamplings() {
  return kUpsamplings;
}

}  // namespace tandem::nn
