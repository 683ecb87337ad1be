#include <c10/util/MathConstants.h>

#include <cmath>

#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

// Source: torch.nn.functional.gaussian_nll_loss. `var` is of the input's shape, or lacks its last dimension or has one
// of 1 there, for one variance of all that is there.
at::Tensor gaussian_nll_loss(const at::Tensor& input, const at::Tensor& target, const at::Tensor& var, bool full,
                             double eps, int64_t reduction) {
  at::Tensor variance = var;
  if (var.sizes() != input.sizes()) {
    if (input.dim() > 0 && input.sizes().slice(0, input.dim() - 1) == var.sizes()) {
      variance = var.unsqueeze(-1);
    } else if (var.dim() != input.dim() || !at::is_expandable_to(var.sizes(), input.sizes())) {
      throw Error(ErrorCode::kInvalidArgument, "GaussianNLLLoss: var must be of the input's shape " +
                                                   c10::str(input.sizes()) + ", or with 1 in a dimension, not " +
                                                   c10::str(var.sizes()));
    }
  }
  if (at::any(variance < 0).item<bool>()) {
    throw Error(ErrorCode::kInvalidArgument, "GaussianNLLLoss: var has a negative entry");
  }
  // Its gradient is that of what was given, clamped or not.
  at::Tensor clamped = variance.clone();
  clamped.data().clamp_(eps);
  at::Tensor loss = 0.5 * (clamped.log() + (input - target).square() / clamped);
  if (full) loss = loss + 0.5 * std::log(2 * c10::pi<double>);
  return reduction == at::Reduction::Mean ? loss.mean() : reduction == at::Reduction::Sum ? loss.sum() : loss;
}

// Losses take input and target.
template <typename Holder, typename Settings>
Made loss(ModuleOptions& o) {
  Settings s;
  o.read("reduction", s.reduction());
  return wrap<Holder>(o, {"input", "target"}, s);
}

template <typename Holder, typename Settings>
Made weighted_loss(ModuleOptions& o) {
  Settings s;
  o.read("weight", s.weight()).read("reduction", s.reduction());
  return wrap<Holder>(o, {"input", "target"}, s);
}

template <typename Holder, typename Settings>
Made margin_loss(ModuleOptions& o, Names names) {
  Settings s;
  o.read("margin", s.margin()).read("reduction", s.reduction());
  return wrap<Holder>(o, std::move(names), s);
}

Made cross_entropy(ModuleOptions& o) {
  tn::CrossEntropyLossOptions s;
  o.read("weight", s.weight()).read("ignore_index", s.ignore_index()).read("reduction", s.reduction());
  o.read("label_smoothing", s.label_smoothing());
  return wrap<tn::CrossEntropyLoss>(o, {"input", "target"}, s);
}

Made nll(ModuleOptions& o) {
  tn::NLLLossOptions s;
  o.read("weight", s.weight()).read("ignore_index", s.ignore_index()).read("reduction", s.reduction());
  return wrap<tn::NLLLoss>(o, {"input", "target"}, s);
}

Made bce_with_logits(ModuleOptions& o) {
  tn::BCEWithLogitsLossOptions s;
  o.read("weight", s.weight()).read("reduction", s.reduction()).read("pos_weight", s.pos_weight());
  return wrap<tn::BCEWithLogitsLoss>(o, {"input", "target"}, s);
}

Made kl_div(ModuleOptions& o) {
  tn::KLDivLossOptions s;
  o.read("reduction", s.reduction()).read("log_target", s.log_target());
  return wrap<tn::KLDivLoss>(o, {"input", "target"}, s);
}

Made smooth_l1(ModuleOptions& o) {
  tn::SmoothL1LossOptions s;
  double beta = 1;
  o.read("reduction", s.reduction()).read("beta", beta);
  s.beta(beta);
  return wrap<tn::SmoothL1Loss>(o, {"input", "target"}, s);
}

Made huber(ModuleOptions& o) {
  tn::HuberLossOptions s;
  o.read("reduction", s.reduction()).read("delta", s.delta());
  return wrap<tn::HuberLoss>(o, {"input", "target"}, s);
}

Made poisson_nll(ModuleOptions& o) {
  tn::PoissonNLLLossOptions s;
  o.read("log_input", s.log_input()).read("full", s.full()).read("eps", s.eps()).read("reduction", s.reduction());
  return wrap<tn::PoissonNLLLoss>(o, {"input", "target"}, s);
}

Made cosine_embedding(ModuleOptions& o) {
  return margin_loss<tn::CosineEmbeddingLoss, tn::CosineEmbeddingLossOptions>(o, {"input1", "input2", "target"});
}

Made margin_ranking(ModuleOptions& o) {
  return margin_loss<tn::MarginRankingLoss, tn::MarginRankingLossOptions>(o, {"input1", "input2", "target"});
}

Made hinge_embedding(ModuleOptions& o) {
  return margin_loss<tn::HingeEmbeddingLoss, tn::HingeEmbeddingLossOptions>(o, {"input", "target"});
}

Made triplet_margin(ModuleOptions& o) {
  tn::TripletMarginLossOptions s;
  o.read("margin", s.margin()).read("p", s.p()).read("eps", s.eps()).read("swap", s.swap());
  o.read("reduction", s.reduction());
  return wrap<tn::TripletMarginLoss>(o, {"anchor", "positive", "negative"}, s);
}

Made ctc(ModuleOptions& o) {
  tn::CTCLossOptions s;
  o.read("blank", s.blank()).read("reduction", s.reduction()).read("zero_infinity", s.zero_infinity());
  return wrap<tn::CTCLoss>(o, {"log_probs", "targets", "input_lengths", "target_lengths"}, s);
}

Made multi_margin(ModuleOptions& o) {
  tn::MultiMarginLossOptions s;
  o.read("p", s.p()).read("margin", s.margin()).read("weight", s.weight()).read("reduction", s.reduction());
  return wrap<tn::MultiMarginLoss>(o, {"input", "target"}, s);
}

// Of Euclidean distances: a function of the program's own is nothing that an option could be.
Made triplet_margin_with_distance(ModuleOptions& o) {
  tn::TripletMarginWithDistanceLossOptions s;
  o.read("margin", s.margin()).read("swap", s.swap()).read("reduction", s.reduction());
  return wrap<tn::TripletMarginWithDistanceLoss>(o, {"anchor", "positive", "negative"}, s);
}

Made gaussian_nll(ModuleOptions& o) {
  bool full = false;
  double eps = 1e-6;
  tn::MSELossOptions::reduction_t reduction = torch::kMean;
  o.read("full", full).read("eps", eps).read("reduction", reduction);
  return wrap_function(
      o, {"input", "target", "var"},
      [=](tn::IdentityImpl&, const at::Tensor& input, const at::Tensor& target, const at::Tensor& var) {
        return gaussian_nll_loss(input, target, var, full, eps, torch::enumtype::reduction_get_enum(reduction));
      });
}

const Registered kLosses[] = {
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
    {"MultiMarginLoss", multi_margin},
    {"TripletMarginWithDistanceLoss", triplet_margin_with_distance},
    {"GaussianNLLLoss", gaussian_nll},
};

}  // namespace

at::ArrayRef<Registered> losses() {
  return kLosses;
}

}  // namespace tandem::nn
