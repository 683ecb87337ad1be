#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

Made linear(ModuleOptions& o) {
  tn::LinearOptions s{o.need<int64_t>("in_features"), o.need<int64_t>("out_features")};
  o.read("bias", s.bias());
  return wrap<tn::Linear>(o, {"input"}, s);
}

Made bilinear(ModuleOptions& o) {
  tn::BilinearOptions s{o.need_count("in1_features"), o.need<int64_t>("in2_features"), o.need<int64_t>("out_features")};
  o.read("bias", s.bias());
  return wrap<tn::Bilinear>(o, {"input1", "input2"}, s);
}

Made identity(ModuleOptions& o) {
  return wrap<tn::Identity>(o, {"input"});
}

const Registered kLinears[] = {
    {"Linear", linear},
    {"Bilinear", bilinear},
    {"Identity", identity},
};

}  // namespace

at::ArrayRef<Registered> linears() {
  return kLinears;
}

}  // namespace tandem::nn
