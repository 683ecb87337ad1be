#pragma once

#include <torch/torch.h>

#include <optional>
#include <tuple>

#include "nn/attention.h"

namespace tandem::nn {

// Source: torch.nn.MultiheadAttention. LibTorch's class has neither `batch_first` nor fused attention.
struct AttentionSettings {
  std::int64_t embed_dim = 1, num_heads = 1;
  double dropout = 0;
  bool bias = true, add_bias_kv = false, add_zero_attn = false;
  std::optional<std::int64_t> kdim{}, vdim{};
  bool batch_first = false;
};

class MultiheadAttentionImpl : public torch::nn::Cloneable<MultiheadAttentionImpl> {
 public:
  explicit MultiheadAttentionImpl(const AttentionSettings& settings);

  void reset() override;

  // Lengths L of the query, S of key and value, a batch of N: [L, N, E], [N, L, E] with batch_first, or [L, E].
  // key_padding_mask is [N, S], attn_mask [L, S] or [N · num_heads, L, S]. is_causal masks what comes later, with or
  // without a mask that says so. Gives the output and, with need_weights (the default), the weights: [N, L, S], or
  // [N, num_heads, L, S] without average_attn_weights.
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                             const at::Tensor& key_padding_mask, std::optional<bool> need_weights,
                                             const at::Tensor& attn_mask, std::optional<bool> average_attn_weights,
                                             std::optional<bool> is_causal);

 private:
  std::int64_t batch_dimension() const { return settings_.batch_first ? 0 : 1; }
  void check(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const;

  AttentionSettings settings_;
  at::Tensor in_proj_weight_, q_proj_weight_, k_proj_weight_, v_proj_weight_, in_proj_bias_, bias_k_, bias_v_;
  torch::nn::Linear out_proj_ = nullptr;
};
TORCH_MODULE(MultiheadAttention);

}  // namespace tandem::nn
