#include <cmath>
#include <limits>
#include <vector>

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

// What is added to the logits: a bool says with true what is left out.
MaybeTensor added(const MaybeTensor& mask, at::ScalarType dtype, const char* name) {
  if (!given(mask)) return std::nullopt;
  if (mask->is_floating_point()) return mask;
  if (mask->scalar_type() != at::kBool) {
    refuse(std::string(name) + " is of bool or of floating point, not " + c10::str(mask->scalar_type()));
  }
  return at::zeros_like(*mask, dtype).masked_fill_(*mask, -std::numeric_limits<double>::infinity());
}

// One source position more, which is seen.
void widen(MaybeTensor& mask) {
  if (mask) mask = at::constant_pad_nd(*mask, {0, 1});
}

struct Projected {
  at::Tensor q, k, v;
};

// `count` projections in one product; apart, each contiguous.
at::Tensor project_together(const at::Tensor& input, const at::Tensor& weight, const MaybeTensor& bias,
                            std::int64_t count) {
  const at::Tensor all = at::linear(input, weight, bias);
  return all.unflatten(-1, {count, all.size(-1) / count}).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous();
}

Projected project(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& weight,
                  const MaybeTensor& bias) {
  const std::int64_t embed = query.size(-1);
  need_sizes(weight, {3 * embed, embed}, "in_proj_weight");
  if (given(bias)) need_sizes(*bias, {3 * embed}, "in_proj_bias");
  if (key.is_same(value) && query.is_same(key)) {
    const at::Tensor all = project_together(query, weight, bias, 3);
    return {all[0], all[1], all[2]};
  }
  const auto part = [&](std::int64_t from, std::int64_t count) {
    return given(bias) ? MaybeTensor(bias->narrow(0, from * embed, count * embed)) : MaybeTensor();
  };
  at::Tensor q = at::linear(query, weight.narrow(0, 0, embed), part(0, 1));
  if (key.is_same(value)) {
    const at::Tensor both = project_together(key, weight.narrow(0, embed, 2 * embed), part(1, 2), 2);
    return {std::move(q), both[0], both[1]};
  }
  return {std::move(q), at::linear(key, weight.narrow(0, embed, embed), part(1, 1)),
          at::linear(value, weight.narrow(0, 2 * embed, embed), part(2, 1))};
}

Projected project_apart(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const MaybeTensor& q_weight, const MaybeTensor& k_weight, const MaybeTensor& v_weight,
                        const MaybeTensor& bias) {
  if (!given(q_weight) || !given(k_weight) || !given(v_weight)) {
    refuse("use_separate_proj_weight needs q_proj_weight, k_proj_weight and v_proj_weight");
  }
  const std::int64_t embed = query.size(-1);
  need_sizes(*q_weight, {embed, embed}, "q_proj_weight");
  need_sizes(*k_weight, {embed, key.size(-1)}, "k_proj_weight");
  need_sizes(*v_weight, {embed, value.size(-1)}, "v_proj_weight");
  if (given(bias)) need_sizes(*bias, {3 * embed}, "in_proj_bias");
  const auto part = [&](std::int64_t i) {
    return given(bias) ? MaybeTensor(bias->narrow(0, i * embed, embed)) : MaybeTensor();
  };
  return {at::linear(query, *q_weight, part(0)), at::linear(key, *k_weight, part(1)),
          at::linear(value, *v_weight, part(2))};
}

// [length, batch, embed] to [batch · heads, length, head].
at::Tensor by_head(const at::Tensor& projected, std::int64_t rows, std::int64_t head) {
  return projected.contiguous().view({projected.size(0), rows, head}).transpose(0, 1);
}

at::Tensor static_or(const MaybeTensor& fixed, const at::Tensor& projected, std::int64_t rows, std::int64_t head,
                     const char* name) {
  if (!given(fixed)) return by_head(projected, rows, head);
  if (fixed->dim() != 3 || fixed->size(0) != rows || fixed->size(2) != head) {
    refuse(std::string(name) + " is [" + std::to_string(rows) + ", source, " + std::to_string(head) + "], not " +
           sizes_of(*fixed));
  }
  return *fixed;
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

  const std::int64_t length = query.size(0), batch = query.size(1), embed = query.size(2);
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

  MaybeTensor padding = added(key_padding_mask, query.scalar_type(), "key_padding_mask");
  if (padding) {
    if (!batched && padding->dim() == 1) padding = padding->unsqueeze(0);
    if (padding->dim() != 2)
      refuse("key_padding_mask is [batch, source], or [source], not " + sizes_of(*key_padding_mask));
  }
  // Without weights and padding, scaled_dot_product_attention makes the causal mask itself.
  const bool causal = is_causal && !padding && !need_weights;
  MaybeTensor mask = causal ? std::nullopt : added(attn_mask, query.scalar_type(), "attn_mask");
  if (mask) {
    const std::int64_t masks = mask->dim() == 2 ? 1 : batch * num_heads;
    if (mask->dim() == 2) mask = mask->unsqueeze(0);
    need_sizes(*mask, {masks, length, key.size(0)}, "attn_mask, one for all or one for each sequence and head,");
  }

  Projected projected;
  if (use_separate_proj_weight) {
    projected = project_apart(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias);
  } else {
    if (!given(in_proj_weight)) refuse("in_proj_weight is needed without use_separate_proj_weight");
    projected = project(query, key, value, *in_proj_weight, in_proj_bias);
  }
  auto& [q, k, v] = projected;
  if (given(bias_k) != given(bias_v)) refuse("bias_k and bias_v go together");
  if (given(bias_k)) {
    if (given(static_k) || given(static_v)) refuse("bias_k and bias_v do not go with static_k and static_v");
    k = at::cat({k, bias_k->repeat({1, batch, 1})});
    v = at::cat({v, bias_v->repeat({1, batch, 1})});
    widen(mask);
    widen(padding);
  }
  const std::int64_t rows = batch * num_heads, head = embed / num_heads;
  q = by_head(q, rows, head);
  k = static_or(static_k, k, rows, head, "static_k");
  v = static_or(static_v, v, rows, head, "static_v");
  if (add_zero_attn) {
    k = at::cat({k, at::zeros({rows, 1, head}, k.options())}, 1);
    v = at::cat({v, at::zeros({rows, 1, head}, v.options())}, 1);
    widen(mask);
    widen(padding);
  }
  const std::int64_t source = k.size(1);
  if (padding) {
    need_sizes(*padding, {batch, source}, "key_padding_mask");
    const at::Tensor each =
        padding->view({batch, 1, 1, source}).expand({-1, num_heads, -1, -1}).reshape({rows, 1, source});
    mask = mask ? *mask + each : each;
  }

  const double dropped = training ? dropout_p : 0;
  const auto projected_out = [&](const at::Tensor& rows_of_output) {
    const at::Tensor out = at::linear(rows_of_output, out_proj_weight, out_proj_bias);
    const at::Tensor shaped = out.view({length, batch, out.size(1)});
    return batched ? shaped : shaped.squeeze(1);
  };
  if (!need_weights) {
    if (mask) {
      mask = mask->size(0) == 1 ? mask->unsqueeze(0) : mask->view({batch, num_heads, -1, source});
    }
    const at::Tensor attended = at::scaled_dot_product_attention(
        q.view({batch, num_heads, length, head}), k.view({batch, num_heads, source, head}),
        v.view({batch, num_heads, source, head}), mask, dropped, causal);
    return {projected_out(attended.permute({2, 0, 1, 3}).contiguous().view({length * batch, embed})), at::Tensor()};
  }
  const at::Tensor scaled = q * std::sqrt(1.0 / static_cast<double>(head));
  at::Tensor weights = mask ? at::baddbmm(*mask, scaled, k.transpose(-2, -1)) : at::bmm(scaled, k.transpose(-2, -1));
  weights = weights.softmax(-1);
  if (dropped > 0) weights = at::dropout(weights, dropped, true);
  const at::Tensor attended = at::bmm(weights, v).transpose(0, 1).contiguous().view({length * batch, embed});
  weights = weights.view({batch, num_heads, length, source});
  if (average_attn_weights) weights = weights.mean(1);
  return {projected_out(attended), batched ? weights : weights.squeeze(0)};
}

}  // namespace tandem::nn::functional
