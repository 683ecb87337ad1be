// Activations and losses.
#include "nn/wrap.h"

namespace tandem::nn {
namespace {

using std::int64_t;
namespace tn = torch::nn;
using Made = std::unique_ptr<Module>;

template <typename Holder>
Made plain(const std::string& type, Options& o) {
  return wrap<Holder>(type, o, 1);
}

template <typename Holder, typename Settings>
Made in_place(const std::string& type, Options& o) {
  Settings s;
  o.read("inplace", s.inplace());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder, typename Settings>
Made scaled(const std::string& type, Options& o) {
  Settings s;
  o.read("alpha", s.alpha()).read("inplace", s.inplace());
  return wrap<Holder>(type, o, 1, s);
}

template <typename Holder, typename Settings>
Made over_dimension(const std::string& type, Options& o) {
  return wrap<Holder>(type, o, 1, Settings(o.need<int64_t>("dim")));
}

template <typename Holder, typename Settings>
Made shrink(const std::string& type, Options& o) {
  Settings s;
  o.read("lambda", s.lambda());
  return wrap<Holder>(type, o, 1, s);
}

Made gelu(const std::string& type, Options& o) {
  tn::GELUOptions s;
  o.read("approximate", s.approximate());
  return wrap<tn::GELU>(type, o, 1, s);
}

Made leaky_relu(const std::string& type, Options& o) {
  tn::LeakyReLUOptions s;
  o.read("negative_slope", s.negative_slope()).read("inplace", s.inplace());
  return wrap<tn::LeakyReLU>(type, o, 1, s);
}

Made prelu(const std::string& type, Options& o) {
  tn::PReLUOptions s;
  o.read("num_parameters", s.num_parameters()).read("init", s.init());
  return wrap<tn::PReLU>(type, o, 1, s);
}

Made rrelu(const std::string& type, Options& o) {
  tn::RReLUOptions s;
  o.read("lower", s.lower()).read("upper", s.upper()).read("inplace", s.inplace());
  return wrap<tn::RReLU>(type, o, 1, s);
}

Made hardtanh(const std::string& type, Options& o) {
  tn::HardtanhOptions s;
  o.read("min_val", s.min_val()).read("max_val", s.max_val()).read("inplace", s.inplace());
  return wrap<tn::Hardtanh>(type, o, 1, s);
}

Made softplus(const std::string& type, Options& o) {
  tn::SoftplusOptions s;
  o.read("beta", s.beta()).read("threshold", s.threshold());
  return wrap<tn::Softplus>(type, o, 1, s);
}

Made threshold(const std::string& type, Options& o) {
  tn::ThresholdOptions s{o.need<double>("threshold"), o.need<double>("value")};
  o.read("inplace", s.inplace());
  return wrap<tn::Threshold>(type, o, 1, s);
}

Made glu(const std::string& type, Options& o) {
  tn::GLUOptions s;
  o.read("dim", s.dim());
  return wrap<tn::GLU>(type, o, 1, s);
}

// Losses take input and target.
template <typename Holder, typename Settings>
Made loss(const std::string& type, Options& o) {
  Settings s;
  o.read("reduction", s.reduction());
  return wrap<Holder>(type, o, 2, s);
}

template <typename Holder, typename Settings>
Made weighted_loss(const std::string& type, Options& o) {
  Settings s;
  o.read("weight", s.weight()).read("reduction", s.reduction());
  return wrap<Holder>(type, o, 2, s);
}

template <typename Holder, typename Settings>
Made margin_loss(const std::string& type, Options& o, std::size_t values) {
  Settings s;
  o.read("margin", s.margin()).read("reduction", s.reduction());
  return wrap<Holder>(type, o, values, s);
}

Made cross_entropy(const std::string& type, Options& o) {
  tn::CrossEntropyLossOptions s;
  o.read("weight", s.weight()).read("ignore_index", s.ignore_index()).read("reduction", s.reduction());
  o.read("label_smoothing", s.label_smoothing());
  return wrap<tn::CrossEntropyLoss>(type, o, 2, s);
}

Made nll(const std::string& type, Options& o) {
  tn::NLLLossOptions s;
  o.read("weight", s.weight()).read("ignore_index", s.ignore_index()).read("reduction", s.reduction());
  return wrap<tn::NLLLoss>(type, o, 2, s);
}

Made bce_with_logits(const std::string& type, Options& o) {
  tn::BCEWithLogitsLossOptions s;
  o.read("weight", s.weight()).read("reduction", s.reduction()).read("pos_weight", s.pos_weight());
  return wrap<tn::BCEWithLogitsLoss>(type, o, 2, s);
}

Made kl_div(const std::string& type, Options& o) {
  tn::KLDivLossOptions s;
  o.read("reduction", s.reduction()).read("log_target", s.log_target());
  return wrap<tn::KLDivLoss>(type, o, 2, s);
}

Made smooth_l1(const std::string& type, Options& o) {
  tn::SmoothL1LossOptions s;
  o.read("reduction", s.reduction()).read("beta", s.beta());
  return wrap<tn::SmoothL1Loss>(type, o, 2, s);
}

Made huber(const std::string& type, Options& o) {
  tn::HuberLossOptions s;
  o.read("reduction", s.reduction()).read("delta", s.delta());
  return wrap<tn::HuberLoss>(type, o, 2, s);
}

Made poisson_nll(const std::string& type, Options& o) {
  tn::PoissonNLLLossOptions s;
  o.read("log_input", s.log_input()).read("full", s.full()).read("eps", s.eps()).read("reduction", s.reduction());
  return wrap<tn::PoissonNLLLoss>(type, o, 2, s);
}

Made cosine_embedding(const std::string& type, Options& o) {
  return margin_loss<tn::CosineEmbeddingLoss, tn::CosineEmbeddingLossOptions>(type, o, 3);
}

Made margin_ranking(const std::string& type, Options& o) {
  return margin_loss<tn::MarginRankingLoss, tn::MarginRankingLossOptions>(type, o, 3);
}

Made hinge_embedding(const std::string& type, Options& o) {
  return margin_loss<tn::HingeEmbeddingLoss, tn::HingeEmbeddingLossOptions>(type, o, 2);
}

Made triplet_margin(const std::string& type, Options& o) {
  tn::TripletMarginLossOptions s;
  o.read("margin", s.margin()).read("p", s.p()).read("eps", s.eps()).read("swap", s.swap());
  o.read("reduction", s.reduction());
  return wrap<tn::TripletMarginLoss>(type, o, 3, s);
}

Made ctc(const std::string& type, Options& o) {
  tn::CTCLossOptions s;
  o.read("blank", s.blank()).read("reduction", s.reduction()).read("zero_infinity", s.zero_infinity());
  return wrap<tn::CTCLoss>(type, o, 4, s);
}

const Registered kFunctions[] = {
    {"ReLU", in_place<tn::ReLU, tn::ReLUOptions>},
    {"ReLU6", in_place<tn::ReLU6, tn::ReLU6Options>},
    {"ELU", scaled<tn::ELU, tn::ELUOptions>},
    {"CELU", scaled<tn::CELU, tn::CELUOptions>},
    {"SELU", in_place<tn::SELU, tn::SELUOptions>},
    {"GELU", gelu},
    {"SiLU", plain<tn::SiLU>},
    {"Mish", plain<tn::Mish>},
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
    {"CrossEntropyLoss", cross_entropy},
    {"NLLLoss", nll},
    {"MSELoss", loss<tn::MSELoss, tn::MSELossOptions>},
    {"L1Loss", loss<tn::L1Loss, tn::L1LossOptions>},
    {"SmoothL1Loss", smooth_l1},
    {"HuberLoss", huber},
    {"KLDivLoss", kl_div},
    {"BCELoss", weighted_loss<tn::BCELoss, tn::BCELossOptions>},
    {"BCEWithLogitsLoss", bce_with_logits},
    {"SoftMarginLoss", loss<tn::SoftMarginLoss, tn::SoftMarginLossOptions>},
    {"MultiLabelMarginLoss", loss<tn::MultiLabelMarginLoss, tn::MultiLabelMarginLossOptions>},
    {"MultiLabelSoftMarginLoss", weighted_loss<tn::MultiLabelSoftMarginLoss, tn::MultiLabelSoftMarginLossOptions>},
    {"PoissonNLLLoss", poisson_nll},
    {"CosineEmbeddingLoss", cosine_embedding},
    {"MarginRankingLoss", margin_ranking},
    {"HingeEmbeddingLoss", hinge_embedding},
    {"TripletMarginLoss", triplet_margin},
    {"CTCLoss", ctc},
};

}  // namespace

at::ArrayRef<Registered> function_modules() {
  return kFunctions;
}

}  // namespace tandem::nn
