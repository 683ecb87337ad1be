#include "nn/attention.h"
#include "base/invalid.h"
#include "tandem/nn_functional.h"

namespace tandem::nn::functional {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

bool given(const MaybeTensor& tensor) {
  return tensor && tensor->defined();
}

[[noreturn]] void refuse(const std::string& why) {
  invalid("multi_head_attention_forward: " + why);
}

std::string sizes_of(const at::Tensor& tensor) {
  return c10::str(tensor.sizes());
}

void need_sizes(const at::Tensor& tensor, at::IntArrayRef sizes, const char* name) {
  if (tensor.sizes() != sizes) refuse(std::string(name) + " is " + c10::str(sizes) + ", not " + sizes_of(tensor));
}

// Whether there is a dimension of the batch.
bool is_batched(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  if (query.dim() != 2 && query.dim() != 3) {
    refuse("query is [length, batch, embed] or [length, embed], not " + sizes_of(query));
  }
  if (key.dim() != query.dim() || value.dim() != query.dim()) {
    refuse("query " + sizes_of(query) + ", key " + sizes_of(key) + " and value " + sizes_of(value) +
           " have as many dimensions as each other");
  }
  return query.dim() == 3;
}

at::Tensor or_none(const MaybeTensor& tensor) {
  return tensor.value_or(at::Tensor());
}

void check_weights(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                   const AttentionWeights& weights) {
  const std::int64_t embed = query.size(-1);
  if (weights.in_proj.defined()) {
    need_sizes(weights.in_proj, {3 * embed, embed}, "in_proj_weight");
  } else {
    need_sizes(weights.q_proj, {embed, embed}, "q_proj_weight");
    need_sizes(weights.k_proj, {embed, key.size(-1)}, "k_proj_weight");
    need_sizes(weights.v_proj, {embed, value.size(-1)}, "v_proj_weight");
  }
  if (weights.in_bias.defined()) need_sizes(weights.in_bias, {3 * embed}, "in_proj_bias");
  if (weights.bias_k.defined() != weights.bias_v.defined()) refuse("bias_k and bias_v go together");
  if (weights.bias_k.defined()) {
    need_sizes(weights.bias_k, {1, 1, embed}, "bias_k");
    need_sizes(weights.bias_v, {1, 1, embed}, "bias_v");
  }
}

void check_static(const MaybeTensor& fixed, std::int64_t rows, std::int64_t head, const char* name) {
  if (!given(fixed) || (fixed->dim() == 3 && fixed->size(0) == rows && fixed->size(2) == head)) return;
  refuse(std::string(name) + " is [" + std::to_string(rows) + ", source, " + std::to_string(head) + "], not " +
         sizes_of(*fixed));
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> multi_head_attention_forward(
    const at::Tensor& query_given, const at::Tensor& key_given, const at::Tensor& value_given,
    std::int64_t embed_dim_to_check, std::int64_t num_heads, const MaybeTensor& in_proj_weight,
    const MaybeTensor& in_proj_bias, const MaybeTensor& bias_k, const MaybeTensor& bias_v, bool add_zero_attn,
    double dropout_p, const at::Tensor& out_proj_weight, const MaybeTensor& out_proj_bias, bool training,
    const MaybeTensor& key_padding_mask, bool need_weights, const MaybeTensor& attn_mask, bool use_separate_proj_weight,
    const MaybeTensor& q_proj_weight, const MaybeTensor& k_proj_weight, const MaybeTensor& v_proj_weight,
    const MaybeTensor& static_k, const MaybeTensor& static_v, bool average_attn_weights, bool is_causal) {
  const bool batched = is_batched(query_given, key_given, value_given);
  const at::Tensor query = batched ? query_given : query_given.unsqueeze(1);
  // The same tensor stays the same one: it is projected in one product.
  const auto with_batch = [&](const at::Tensor& tensor) {
    if (tensor.is_same(query_given)) return query;
    return batched ? tensor : tensor.unsqueeze(1);
  };
  const at::Tensor key = with_batch(key_given);
  const at::Tensor value = value_given.is_same(key_given) ? key : with_batch(value_given);

  const std::int64_t batch = query.size(1), embed = query.size(2);
  if (embed != embed_dim_to_check) {
    refuse("query is of embedding size " + std::to_string(embed) + ", not " + std::to_string(embed_dim_to_check));
  }
  if (num_heads < 1 || embed % num_heads != 0) {
    refuse("the embedding size " + std::to_string(embed) + " is not divisible into " + std::to_string(num_heads) +
           " heads");
  }
  if (key.size(1) != batch || key.sizes().slice(0, 2) != value.sizes().slice(0, 2) ||
      (!use_separate_proj_weight && key.sizes() != value.sizes())) {
    refuse("key " + sizes_of(key_given) + " and value " + sizes_of(value_given) +
           " have the same sizes and the query's batch, " + sizes_of(query_given) +
           "; with use_separate_proj_weight the last may differ");
  }
  if (is_causal && !given(attn_mask)) refuse("is_causal is a hint that attn_mask is causal; give the mask, too");

  if (use_separate_proj_weight ? !given(q_proj_weight) || !given(k_proj_weight) || !given(v_proj_weight)
                               : !given(in_proj_weight)) {
    refuse(use_separate_proj_weight ? "use_separate_proj_weight needs q_proj_weight, k_proj_weight and v_proj_weight"
                                    : "in_proj_weight is needed without use_separate_proj_weight");
  }
  AttentionWeights weights;
  if (use_separate_proj_weight) {
    weights = {{}, *q_proj_weight, *k_proj_weight, *v_proj_weight, {}, {}, {}, {}, {}};
  } else {
    weights.in_proj = *in_proj_weight;
  }
  weights.in_bias = or_none(in_proj_bias);
  weights.bias_k = or_none(bias_k);
  weights.bias_v = or_none(bias_v);
  weights.out_proj = out_proj_weight;
  weights.out_bias = or_none(out_proj_bias);
  check_weights(query, key, value, weights);
  if (given(bias_k) && (given(static_k) || given(static_v))) {
    refuse("bias_k and bias_v do not go with static_k and static_v");
  }
  check_static(static_k, batch * num_heads, embed / num_heads, "static_k");
  check_static(static_v, batch * num_heads, embed / num_heads, "static_v");

  at::Tensor padding = or_none(key_padding_mask);
  if (!batched && padding.defined() && padding.dim() == 1) padding = padding.unsqueeze(0);
  auto [output, attention] = attend(query, key, value, weights,
                                    {.num_heads = num_heads,
                                     .batch_first = false,
                                     .add_zero_attn = add_zero_attn,
                                     .need_weights = need_weights,
                                     .average_weights = average_attn_weights,
                                     .causal = is_causal,
                                     .dropout = training ? dropout_p : 0,
                                     .key_padding_mask = padding,
                                     .attn_mask = or_none(attn_mask),
                                     .static_k = or_none(static_k),
                                     .static_v = or_none(static_v)});
  if (batched) return {output, attention};
  return {output.squeeze(1), attention.defined() ? attention.squeeze(0) : attention};
}

}  // namespace tandem::nn::functional
