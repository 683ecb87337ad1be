#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

template <typename Holder>
Made plain(ModuleOptions& o) {
  return wrap<Holder>(o, {"input"});
}

template <typename Holder, typename Settings>
Made in_place(ModuleOptions& o) {
  Settings s;
  o.read("inplace", s.inplace());
  return wrap<Holder>(o, {"input"}, s);
}

// What LibTorch has as functions alone, or without `inplace`.
template <at::Tensor (*function)(const at::Tensor&), at::Tensor& (*overwriting)(at::Tensor&)>
Made in_place_function(ModuleOptions& o) {
  bool inplace = false;
  o.read("inplace", inplace);
  return wrap_function(o, {"input"}, [inplace](tn::IdentityImpl&, at::Tensor input) {
    return inplace ? overwriting(input) : function(input);
  });
}

template <typename Holder, typename Settings>
Made scaled(ModuleOptions& o) {
  Settings s;
  o.read("alpha", s.alpha()).read("inplace", s.inplace());
  return wrap<Holder>(o, {"input"}, s);
}

template <typename Holder, typename Settings>
Made over_dimension(ModuleOptions& o) {
  return wrap<Holder>(o, {"input"}, Settings(o.need<int64_t>("dim")));
}

template <typename Holder, typename Settings>
Made shrink(ModuleOptions& o) {
  Settings s;
  o.read("lambd", s.lambda());
  return wrap<Holder>(o, {"input"}, s);
}

Made gelu(ModuleOptions& o) {
  tn::GELUOptions s;
  o.read("approximate", s.approximate());
  return wrap<tn::GELU>(o, {"input"}, s);
}

Made leaky_relu(ModuleOptions& o) {
  tn::LeakyReLUOptions s;
  o.read("negative_slope", s.negative_slope()).read("inplace", s.inplace());
  return wrap<tn::LeakyReLU>(o, {"input"}, s);
}

Made prelu(ModuleOptions& o) {
  tn::PReLUOptions s;
  o.read("num_parameters", s.num_parameters()).read("init", s.init());
  return wrap<tn::PReLU>(o, {"input"}, s);
}

Made rrelu(ModuleOptions& o) {
  tn::RReLUOptions s;
  o.read("lower", s.lower()).read("upper", s.upper()).read("inplace", s.inplace());
  return wrap<tn::RReLU>(o, {"input"}, s);
}

Made hardtanh(ModuleOptions& o) {
  tn::HardtanhOptions s;
  o.read("min_val", s.min_val()).read("max_val", s.max_val()).read("inplace", s.inplace());
  return wrap<tn::Hardtanh>(o, {"input"}, s);
}

Made softplus(ModuleOptions& o) {
  tn::SoftplusOptions s;
  o.read("beta", s.beta()).read("threshold", s.threshold());
  return wrap<tn::Softplus>(o, {"input"}, s);
}

Made threshold(ModuleOptions& o) {
  tn::ThresholdOptions s{o.need<double>("threshold"), o.need<double>("value")};
  o.read("inplace", s.inplace());
  return wrap<tn::Threshold>(o, {"input"}, s);
}

Made glu(ModuleOptions& o) {
  tn::GLUOptions s;
  o.read("dim", s.dim());
  return wrap<tn::GLU>(o, {"input"}, s);
}

const Registered kActivations[] = {
    {"ReLU", in_place<tn::ReLU, tn::ReLUOptions>},
    {"ReLU6", in_place<tn::ReLU6, tn::ReLU6Options>},
    {"ELU", scaled<tn::ELU, tn::ELUOptions>},
    {"CELU", scaled<tn::CELU, tn::CELUOptions>},
    {"SELU", in_place<tn::SELU, tn::SELUOptions>},
    {"GELU", gelu},
    {"SiLU", in_place_function<at::silu, at::silu_>},
    {"Mish", in_place_function<at::mish, at::mish_>},
    {"Hardswish", in_place_function<at::hardswish, at::hardswish_>},
    {"Hardsigmoid", in_place_function<at::hardsigmoid, at::hardsigmoid_>},
    {"Tanh", plain<tn::Tanh>},
    {"Sigmoid", plain<tn::Sigmoid>},
    {"LogSigmoid", plain<tn::LogSigmoid>},
    {"Softsign", plain<tn::Softsign>},
    {"Tanhshrink", plain<tn::Tanhshrink>},
    {"Softmax2d", plain<tn::Softmax2d>},
    {"Softmax", over_dimension<tn::Softmax, tn::SoftmaxOptions>},
    {"Softmin", over_dimension<tn::Softmin, tn::SoftminOptions>},
    {"LogSoftmax", over_dimension<tn::LogSoftmax, tn::LogSoftmaxOptions>},
    {"Softshrink", shrink<tn::Softshrink, tn::SoftshrinkOptions>},
    {"Hardshrink", shrink<tn::Hardshrink, tn::HardshrinkOptions>},
    {"Hardtanh", hardtanh},
    {"LeakyReLU", leaky_relu},
    {"PReLU", prelu},
    {"RReLU", rrelu},
    {"Softplus", softplus},
    {"Threshold", threshold},
    {"GLU", glu},
};

}  // namespace

at::ArrayRef<Registered> activations() {
  return kActivations;
}

}  // namespace tandem::nn
