// Multi-head attention, for the module and the function of that name.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace tandem::nn {

// An additive mask of that dtype: where a bool mask is true, nothing is attended to. An undefined one stays undefined;
// other integers are refused.
at::Tensor additive_mask(const at::Tensor& mask, const char* name, at::ScalarType dtype);

// Those that there are not are undefined. Either in_proj, for all three, or the others.
struct AttentionWeights {
  at::Tensor in_proj, q_proj, k_proj, v_proj, in_bias;
  at::Tensor bias_k, bias_v;  // [1, 1, E]: one key more
  at::Tensor out_proj, out_bias;
};

struct AttentionCall {
  std::int64_t num_heads = 1;
  bool batch_first = false, add_zero_attn = false, need_weights = true, average_weights = true;
  // Whether masked so, with or without a mask that says it. As in Python, appended keys (bias_k, add_zero_attn) come
  // after all others then, unseen by most queries, where there is such a mask and neither key_padding_mask nor
  // need_weights.
  bool causal = false;
  double dropout = 0;
  at::Tensor key_padding_mask, attn_mask;  // undefined, or [N, S], and [L, S] or [N · num_heads, L, S]
  at::Tensor static_k, static_v;           // undefined, or [N · num_heads, S, E / num_heads] in place of projected ones
};

// query [L, N, E], key and value [S, N, …], or N first. Checked by the caller, but for masks: those that do not fit
// throw tandem::Error (kInvalidArgument). Gives the output and, with need_weights, the weights: [N, L, S], or [N,
// num_heads, L, S] where they are not averaged.
std::tuple<at::Tensor, at::Tensor> attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          const AttentionWeights& weights, const AttentionCall& call);

}  // namespace tandem::nn
