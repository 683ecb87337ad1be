#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

template <typename Holder, std::size_t D>
Made conv(ModuleOptions& o) {
  tn::ConvOptions<D> s{o.need<int64_t>("in_channels"), o.need<int64_t>("out_channels"),
                       o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("dilation", s.dilation()).read("groups", s.groups());
  o.read("bias", s.bias()).read("padding_mode", s.padding_mode());
  return wrap<Holder>(o, {"input"}, s);
}

template <typename Holder, std::size_t D>
Made conv_transpose(ModuleOptions& o) {
  tn::ConvTransposeOptions<D> s{o.need<int64_t>("in_channels"), o.need<int64_t>("out_channels"),
                                o.need<torch::ExpandingArray<D>>("kernel_size")};
  o.read("stride", s.stride()).read("padding", s.padding()).read("output_padding", s.output_padding());
  o.read("groups", s.groups()).read("bias", s.bias()).read("dilation", s.dilation());
  o.read("padding_mode", s.padding_mode());
  return wrap<Holder>(o, {"input", "output_size?"}, s);
}

const Registered kConvolutions[] = {
    {"Conv1d", conv<tn::Conv1d, 1>},
    {"Conv2d", conv<tn::Conv2d, 2>},
    {"Conv3d", conv<tn::Conv3d, 3>},
    {"ConvTranspose1d", conv_transpose<tn::ConvTranspose1d, 1>},
    {"ConvTranspose2d", conv_transpose<tn::ConvTranspose2d, 2>},
    {"ConvTranspose3d", conv_transpose<tn::ConvTranspose3d, 3>},
};

}  // namespace

at::ArrayRef<Registered> convolutions() {
  return kConvolutions;
}

}  // namespace tandem::nn
