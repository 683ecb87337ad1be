#pragma once

#include <torch/torch.h>

#include <optional>
#include <variant>

#include "nn/modules/attention.h"
#include "nn/modules/layer_norm.h"

namespace tandem::nn {

// Of layers, and of the stacks made of them. LibTorch's classes have neither batch_first, norm_first nor bias.
struct TransformerSettings {
  std::int64_t d_model = 512, nhead = 8, dim_feedforward = 2048;
  double dropout = 0.1;
  std::variant<torch::enumtype::kReLU, torch::enumtype::kGELU> activation = torch::kReLU;
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
};

LayerNorm make_norm(const TransformerSettings& settings);

// A mask of [length, length] or [batch · nhead, length, length] and one of [batch, length]; either may be undefined.
struct Masks {
  at::Tensor attention, padding;
  std::optional<bool> is_causal;

  // The same, additive: converted once for a whole stack.
  Masks additive(at::ScalarType dtype) const;
};

// What the layers share: attention and the two linear maps with what is around them.
template <typename Derived>
class TransformerLayer : public torch::nn::Cloneable<Derived> {
 protected:
  explicit TransformerLayer(const TransformerSettings& settings) : settings_(settings) {}

  MultiheadAttention register_attention(const char* name);
  void register_feed_forward();
  void register_norms(std::size_t count);

  at::Tensor attend(MultiheadAttention& attention, const at::Tensor& query, const at::Tensor& memory,
                    const Masks& masks);
  at::Tensor feed_forward(const at::Tensor& input);
  // Adds what `part` makes of x; the norm goes before, or after.
  template <typename Part>
  at::Tensor residual(const at::Tensor& x, std::size_t norm, Part&& part) {
    return settings_.norm_first ? x + part(norms_[norm](x)) : norms_[norm](x + part(x));
  }

  TransformerSettings settings_;
  std::vector<LayerNorm> norms_;
  torch::nn::Linear linear1_ = nullptr, linear2_ = nullptr;
};

// Source: torch.nn.TransformerEncoderLayer.
class TransformerEncoderLayerImpl : public TransformerLayer<TransformerEncoderLayerImpl> {
 public:
  explicit TransformerEncoderLayerImpl(const TransformerSettings& settings) : TransformerLayer(settings) { reset(); }
  void reset() override;
  at::Tensor forward(const at::Tensor& src, const Masks& masks);

 private:
  MultiheadAttention self_attn_ = nullptr;
};
TORCH_MODULE(TransformerEncoderLayer);

// Source: torch.nn.TransformerDecoderLayer.
class TransformerDecoderLayerImpl : public TransformerLayer<TransformerDecoderLayerImpl> {
 public:
  explicit TransformerDecoderLayerImpl(const TransformerSettings& settings) : TransformerLayer(settings) { reset(); }
  void reset() override;
  at::Tensor forward(const at::Tensor& tgt, const at::Tensor& memory, const Masks& tgt_masks,
                     const Masks& memory_masks);

 private:
  MultiheadAttention self_attn_ = nullptr, multihead_attn_ = nullptr;
};
TORCH_MODULE(TransformerDecoderLayer);

}  // namespace tandem::nn
