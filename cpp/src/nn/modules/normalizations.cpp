#include "nn/modules/layer_norm.h"
#include "nn/modules/rms_norm.h"
#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

template <typename Holder>
Made batch_norm(ModuleOptions& o) {
  tn::BatchNormOptions s{o.need<int64_t>("num_features")};
  o.read("eps", s.eps()).read("momentum", s.momentum()).read("affine", s.affine());
  o.read("track_running_stats", s.track_running_stats());
  return wrap<Holder>(o, {"input"}, s);
}

template <typename Holder>
Made instance_norm(ModuleOptions& o) {
  tn::InstanceNormOptions s{o.need<int64_t>("num_features")};
  o.read("eps", s.eps()).read("momentum", s.momentum()).read("affine", s.affine());
  o.read("track_running_stats", s.track_running_stats());
  return wrap<Holder>(o, {"input"}, s);
}

Made layer_norm(ModuleOptions& o) {
  LayerNormSettings s{.normalized_shape = o.need<std::vector<int64_t>>("normalized_shape")};
  o.read("eps", s.eps).read("elementwise_affine", s.elementwise_affine).read("bias", s.bias);
  return wrap<LayerNorm>(o, {"input"}, s);
}

Made rms_norm(ModuleOptions& o) {
  RmsNormSettings s{.normalized_shape = o.need<std::vector<int64_t>>("normalized_shape")};
  o.read("eps", s.eps).read("elementwise_affine", s.elementwise_affine);
  return wrap<RmsNorm>(o, {"x"}, s);
}

template <typename Settings>
Settings response_norm(ModuleOptions& o) {
  Settings s{o.need_count("size")};
  o.read("alpha", s.alpha()).read("beta", s.beta()).read("k", s.k());
  return s;
}

Made local_response_norm(ModuleOptions& o) {
  return wrap<tn::LocalResponseNorm>(o, {"input"}, response_norm<tn::LocalResponseNormOptions>(o));
}

Made cross_map_lrn(ModuleOptions& o) {
  return wrap<tn::CrossMapLRN2d>(o, {"input"}, response_norm<tn::CrossMapLRN2dOptions>(o));
}

Made group_norm(ModuleOptions& o) {
  tn::GroupNormOptions s{o.need_count("num_groups"), o.need<int64_t>("num_channels")};
  o.read("eps", s.eps()).read("affine", s.affine());
  return wrap<tn::GroupNorm>(o, {"input"}, s);
}

const Registered kNormalizations[] = {
    {"BatchNorm1d", batch_norm<tn::BatchNorm1d>},
    {"BatchNorm2d", batch_norm<tn::BatchNorm2d>},
    {"BatchNorm3d", batch_norm<tn::BatchNorm3d>},
    {"InstanceNorm1d", instance_norm<tn::InstanceNorm1d>},
    {"InstanceNorm2d", instance_norm<tn::InstanceNorm2d>},
    {"InstanceNorm3d", instance_norm<tn::InstanceNorm3d>},
    {"LayerNorm", layer_norm},
    {"RMSNorm", rms_norm},
    {"LocalResponseNorm", local_response_norm},
    {"CrossMapLRN2d", cross_map_lrn},
    {"GroupNorm", group_norm},
};

}  // namespace

at::ArrayRef<Registered> normalizations() {
  return kNormalizations;
}

}  // namespace tandem::nn
