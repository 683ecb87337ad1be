#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

Made flatten_dimensions(ModuleOptions& o) {
  tn::FlattenOptions s;
  o.read("start_dim", s.start_dim()).read("end_dim", s.end_dim());
  return wrap<tn::Flatten>(o, {"input"}, s);
}

Made unflatten(ModuleOptions& o) {
  tn::UnflattenOptions s{o.need<int64_t>("dim"), o.need<std::vector<int64_t>>("unflattened_size")};
  return wrap<tn::Unflatten>(o, {"input"}, s);
}

Made pixel_shuffle(ModuleOptions& o) {
  return wrap<tn::PixelShuffle>(o, {"input"}, tn::PixelShuffleOptions(o.need_count("upscale_factor")));
}

Made pixel_unshuffle(ModuleOptions& o) {
  return wrap<tn::PixelUnshuffle>(o, {"input"}, tn::PixelUnshuffleOptions(o.need_count("downscale_factor")));
}

Made channel_shuffle(ModuleOptions& o) {
  const int64_t groups = o.need_count("groups");
  return wrap_function(o, {"input"}, [groups](tn::IdentityImpl&, const at::Tensor& input) {
    return at::channel_shuffle(input, groups);
  });
}

template <typename Settings>
Settings sliding_window(ModuleOptions& o, Settings s) {
  o.read("dilation", s.dilation()).read("padding", s.padding()).read("stride", s.stride());
  return s;
}

Made fold(ModuleOptions& o) {
  const auto output_size = o.need<torch::ExpandingArray<2>>("output_size");
  const auto kernel_size = o.need<torch::ExpandingArray<2>>("kernel_size");
  return wrap<tn::Fold>(o, {"input"}, sliding_window(o, tn::FoldOptions(output_size, kernel_size)));
}

Made unfold(ModuleOptions& o) {
  return wrap<tn::Unfold>(o, {"input"},
                          sliding_window(o, tn::UnfoldOptions(o.need<torch::ExpandingArray<2>>("kernel_size"))));
}

const Registered kShapes[] = {
    {"Flatten", flatten_dimensions},
    {"Unflatten", unflatten},
    {"Fold", fold},
    {"Unfold", unfold},
    {"PixelShuffle", pixel_shuffle},
    {"PixelUnshuffle", pixel_unshuffle},
    {"ChannelShuffle", channel_shuffle},
};

}  // namespace

at::ArrayRef<Registered> shapes() {
  return kShapes;
}

}  // namespace tandem::nn
