#include "nn/modules/pool_options.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// The output, or output and indices for MaxUnpool if asked.
template <typename Holder, typename Settings>
Made maybe_with_indices(ModuleOptions& o, const Settings& s) {
  using Implementation = std::remove_cvref_t<decltype(*std::declval<Holder>().ptr())>;
  bool return_indices = false;
  o.read("return_indices", return_indices);
  return return_indices ? wrap_with<Holder>(o, {"input"}, &Implementation::forward_with_indices, s)
                        : wrap<Holder>(o, {"input"}, s);
}

template <typename Holder, std::size_t D>
Made max_pool(ModuleOptions& o) {
  tn::MaxPoolOptions<D> s{need_pool_size<D>(o)};
  read_stride(o, s.stride());
  o.read("padding", s.padding()).read("dilation", s.dilation()).read("ceil_mode", s.ceil_mode());
  check_pool(o, "padding", s.padding());
  check_pool(o, "dilation", s.dilation());
  return maybe_with_indices<Holder>(o, s);
}

template <typename Holder, std::size_t D>
Made average_pool(ModuleOptions& o) {
  tn::AvgPoolOptions<D> s{need_pool_size<D>(o)};
  read_stride(o, s.stride());
  o.read("padding", s.padding()).read("ceil_mode", s.ceil_mode()).read("count_include_pad", s.count_include_pad());
  if constexpr (D > 1) o.read("divisor_override", s.divisor_override());
  return wrap<Holder>(o, {"input"}, s);
}

template <typename Holder, std::size_t D>
Made power_average_pool(ModuleOptions& o) {
  const auto norm_type = o.need<double>("norm_type");
  tn::LPPoolOptions<D> s{norm_type, need_pool_size<D>(o)};
  read_stride(o, s.stride());
  o.read("ceil_mode", s.ceil_mode());
  return wrap<Holder>(o, {"input"}, s);
}

template <typename Holder, std::size_t D>
Made fractional_max_pool(ModuleOptions& o) {
  tn::FractionalMaxPoolOptions<D> s{need_pool_size<D>(o)};
  o.read("output_size", s.output_size()).read("output_ratio", s.output_ratio());
  return maybe_with_indices<Holder>(o, s);
}

template <typename Settings, typename Size>
Settings adaptive(ModuleOptions& o) {
  return Settings(o.need<Size>("output_size"));
}

template <typename Holder, typename Settings, typename Size>
Made adaptive_average_pool(ModuleOptions& o) {
  return wrap<Holder>(o, {"input"}, adaptive<Settings, Size>(o));
}

template <typename Holder, typename Settings, typename Size>
Made adaptive_max_pool(ModuleOptions& o) {
  return maybe_with_indices<Holder>(o, adaptive<Settings, Size>(o));
}

using One = torch::ExpandingArray<1>;
template <std::size_t D>
using Some = torch::ExpandingArrayWithOptionalElem<D>;

const Registered kPoolings[] = {
    {"MaxPool1d", max_pool<tn::MaxPool1d, 1>},
    {"MaxPool2d", max_pool<tn::MaxPool2d, 2>},
    {"MaxPool3d", max_pool<tn::MaxPool3d, 3>},
    {"AvgPool1d", average_pool<tn::AvgPool1d, 1>},
    {"AvgPool2d", average_pool<tn::AvgPool2d, 2>},
    {"AvgPool3d", average_pool<tn::AvgPool3d, 3>},
    {"LPPool1d", power_average_pool<tn::LPPool1d, 1>},
    {"LPPool2d", power_average_pool<tn::LPPool2d, 2>},
    {"LPPool3d", power_average_pool<tn::LPPool3d, 3>},
    {"FractionalMaxPool2d", fractional_max_pool<tn::FractionalMaxPool2d, 2>},
    {"FractionalMaxPool3d", fractional_max_pool<tn::FractionalMaxPool3d, 3>},
    {"AdaptiveAvgPool1d", adaptive_average_pool<tn::AdaptiveAvgPool1d, tn::AdaptiveAvgPool1dOptions, One>},
    {"AdaptiveAvgPool2d", adaptive_average_pool<tn::AdaptiveAvgPool2d, tn::AdaptiveAvgPool2dOptions, Some<2>>},
    {"AdaptiveAvgPool3d", adaptive_average_pool<tn::AdaptiveAvgPool3d, tn::AdaptiveAvgPool3dOptions, Some<3>>},
    {"AdaptiveMaxPool1d", adaptive_max_pool<tn::AdaptiveMaxPool1d, tn::AdaptiveMaxPool1dOptions, One>},
    {"AdaptiveMaxPool2d", adaptive_max_pool<tn::AdaptiveMaxPool2d, tn::AdaptiveMaxPool2dOptions, Some<2>>},
    {"AdaptiveMaxPool3d", adaptive_max_pool<tn::AdaptiveMaxPool3d, tn::AdaptiveMaxPool3dOptions, Some<3>>},
};

}  // namespace

at::ArrayRef<Registered> poolings() {
  return kPoolings;
}

}  // namespace tandem::nn
