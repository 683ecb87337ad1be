#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

template <typename Holder, typename Settings, std::size_t D>
Made pad(ModuleOptions& o) {
  return wrap<Holder>(o, {"input"}, Settings(o.need<torch::ExpandingArray<2 * D>>("padding")));
}

template <typename Holder, std::size_t D>
Made constant_pad(ModuleOptions& o) {
  const auto padding = o.need<torch::ExpandingArray<2 * D>>("padding");
  return wrap<Holder>(o, {"input"}, tn::ConstantPadOptions<D>(padding, o.need<double>("value")));
}

template <std::size_t D>
Made circular_pad(ModuleOptions& o) {
  const auto padding = o.need<torch::ExpandingArray<2 * D>>("padding");
  const std::vector<int64_t> sizes(padding->begin(), padding->end());
  return wrap_function(o, {"input"}, [sizes](tn::IdentityImpl&, const at::Tensor& input) {
    return tn::functional::pad(input, tn::functional::PadFuncOptions(sizes).mode(torch::kCircular));
  });
}

const Registered kPaddings[] = {
    {"ReflectionPad1d", pad<tn::ReflectionPad1d, tn::ReflectionPad1dOptions, 1>},
    {"ReflectionPad2d", pad<tn::ReflectionPad2d, tn::ReflectionPad2dOptions, 2>},
    {"ReflectionPad3d", pad<tn::ReflectionPad3d, tn::ReflectionPad3dOptions, 3>},
    {"ReplicationPad1d", pad<tn::ReplicationPad1d, tn::ReplicationPad1dOptions, 1>},
    {"ReplicationPad2d", pad<tn::ReplicationPad2d, tn::ReplicationPad2dOptions, 2>},
    {"ReplicationPad3d", pad<tn::ReplicationPad3d, tn::ReplicationPad3dOptions, 3>},
    {"ZeroPad1d", pad<tn::ZeroPad1d, tn::ZeroPadOptions<1>, 1>},
    {"ZeroPad2d", pad<tn::ZeroPad2d, tn::ZeroPadOptions<2>, 2>},
    {"ZeroPad3d", pad<tn::ZeroPad3d, tn::ZeroPadOptions<3>, 3>},
    {"ConstantPad1d", constant_pad<tn::ConstantPad1d, 1>},
    {"ConstantPad2d", constant_pad<tn::ConstantPad2d, 2>},
    {"ConstantPad3d", constant_pad<tn::ConstantPad3d, 3>},
    {"CircularPad1d", circular_pad<1>},
    {"CircularPad2d", circular_pad<2>},
    {"CircularPad3d", circular_pad<3>},
};

}  // namespace

at::ArrayRef<Registered> paddings() {
  return kPaddings;
}

}  // namespace tandem::nn
