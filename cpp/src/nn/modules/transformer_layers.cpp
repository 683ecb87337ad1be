#include "nn/modules/transformer_layers.h"

namespace tandem::nn {

LayerNorm make_norm(const TransformerSettings& settings) {
  return LayerNorm(LayerNormSettings{{settings.d_model}, settings.layer_norm_eps, true, settings.bias});
}

Masks Masks::additive(at::ScalarType dtype) const {
  return {additive_mask(attention, "mask", dtype), additive_mask(padding, "key_padding_mask", dtype), is_causal};
}

template <typename Derived>
MultiheadAttention TransformerLayer<Derived>::register_attention(const char* name) {
  return this->register_module(name, MultiheadAttention(AttentionSettings{.embed_dim = settings_.d_model,
                                                                          .num_heads = settings_.nhead,
                                                                          .dropout = settings_.dropout,
                                                                          .bias = settings_.bias,
                                                                          .batch_first = settings_.batch_first}));
}

template <typename Derived>
void TransformerLayer<Derived>::register_feed_forward() {
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(settings_.bias));
  };
  linear1_ = this->register_module("linear1", linear(settings_.d_model, settings_.dim_feedforward));
  linear2_ = this->register_module("linear2", linear(settings_.dim_feedforward, settings_.d_model));
}

template <typename Derived>
void TransformerLayer<Derived>::register_norms(std::size_t count) {
  norms_.clear();
  for (std::size_t i = 1; i <= count; ++i) {
    norms_.push_back(this->register_module("norm" + std::to_string(i), make_norm(settings_)));
  }
}

template <typename Derived>
at::Tensor TransformerLayer<Derived>::attend(MultiheadAttention& attention, const at::Tensor& query,
                                             const at::Tensor& memory, const Masks& masks) {
  const at::Tensor attended = std::get<0>(
      attention->forward(query, memory, memory, masks.padding, false, masks.attention, std::nullopt, masks.is_causal));
  return at::dropout(attended, settings_.dropout, this->is_training());
}

template <typename Derived>
at::Tensor TransformerLayer<Derived>::feed_forward(const at::Tensor& input) {
  const bool training = this->is_training();
  const at::Tensor inner = linear1_(input);
  const bool relu = std::holds_alternative<torch::enumtype::kReLU>(settings_.activation);
  const at::Tensor active = at::dropout(relu ? at::relu(inner) : at::gelu(inner), settings_.dropout, training);
  return at::dropout(linear2_(active), settings_.dropout, training);
}

void TransformerEncoderLayerImpl::reset() {
  self_attn_ = register_attention("self_attn");
  register_feed_forward();
  register_norms(2);
}

at::Tensor TransformerEncoderLayerImpl::forward(const at::Tensor& src, const Masks& masks) {
  const at::Tensor x = residual(src, 0, [&](const at::Tensor& y) { return attend(self_attn_, y, y, masks); });
  return residual(x, 1, [&](const at::Tensor& y) { return feed_forward(y); });
}

void TransformerDecoderLayerImpl::reset() {
  self_attn_ = register_attention("self_attn");
  multihead_attn_ = register_attention("multihead_attn");
  register_feed_forward();
  register_norms(3);
}

at::Tensor TransformerDecoderLayerImpl::forward(const at::Tensor& tgt, const at::Tensor& memory, const Masks& tgt_masks,
                                                const Masks& memory_masks) {
  at::Tensor x = residual(tgt, 0, [&](const at::Tensor& y) { return attend(self_attn_, y, y, tgt_masks); });
  x = residual(x, 1, [&](const at::Tensor& y) { return attend(multihead_attn_, y, memory, memory_masks); });
  return residual(x, 2, [&](const at::Tensor& y) { return feed_forward(y); });
}

}  // namespace tandem::nn
