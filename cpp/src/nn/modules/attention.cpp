#include "nn/modules/attention.h"

#include <cmath>
#include <limits>

#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

[[noreturn]] void misfit(const std::string& what, const at::Tensor& given) {
  throw Error(ErrorCode::kInvalidArgument, "MultiheadAttention: the " + what + ", not " + c10::str(given.sizes()));
}

at::Tensor causal_mask(std::int64_t queries, std::int64_t keys, const at::TensorOptions& options) {
  return at::full({queries, keys}, -std::numeric_limits<double>::infinity(), options).triu(1);
}

Made multihead_attention(ModuleOptions& o) {
  AttentionSettings s{.embed_dim = o.need_count("embed_dim"), .num_heads = o.need_count("num_heads")};
  o.read("dropout", s.dropout).read("bias", s.bias).read("add_bias_kv", s.add_bias_kv);
  o.read("add_zero_attn", s.add_zero_attn).read("kdim", s.kdim).read("vdim", s.vdim).read("batch_first", s.batch_first);
  if (s.kdim) o.check_count("kdim", *s.kdim);
  if (s.vdim) o.check_count("vdim", *s.vdim);
  return wrap<MultiheadAttention>(o,
                                  {"query", "key", "value", "key_padding_mask?", "need_weights?", "attn_mask?",
                                   "average_attn_weights?", "is_causal?"},
                                  s);
}

const Registered kAttentions[] = {{"MultiheadAttention", multihead_attention}};

}  // namespace

at::Tensor additive_mask(const at::Tensor& mask, const char* name, at::ScalarType dtype) {
  if (!mask.defined() || mask.is_floating_point()) return mask;
  if (mask.scalar_type() != at::kBool) {
    throw Error(ErrorCode::kInvalidArgument, std::string("attention: ") + name +
                                                 " must be of bool or a floating-point dtype, not " +
                                                 at::toString(mask.scalar_type()));
  }
  return at::zeros_like(mask, mask.options().dtype(dtype)).masked_fill_(mask, -std::numeric_limits<double>::infinity());
}

MultiheadAttentionImpl::MultiheadAttentionImpl(const AttentionSettings& settings) : settings_(settings) {
  if (settings.embed_dim % settings.num_heads != 0) {
    throw Error(ErrorCode::kInvalidArgument, "MultiheadAttention: embed_dim " + std::to_string(settings.embed_dim) +
                                                 " is no multiple of num_heads " + std::to_string(settings.num_heads));
  }
  reset();
}

// In the order in which Python draws, so that one seed gives the same parameters.
void MultiheadAttentionImpl::reset() {
  const std::int64_t size = settings_.embed_dim, key = settings_.kdim.value_or(size),
                     value = settings_.vdim.value_or(size);
  const auto parameter = [&](const char* name, bool has, at::IntArrayRef sizes) {
    return register_parameter(name, has ? torch::empty(sizes) : at::Tensor(), has);
  };
  const bool packed = key == size && value == size;
  q_proj_weight_ = parameter("q_proj_weight", !packed, {size, size});
  k_proj_weight_ = parameter("k_proj_weight", !packed, {size, key});
  v_proj_weight_ = parameter("v_proj_weight", !packed, {size, value});
  in_proj_weight_ = parameter("in_proj_weight", packed, {3 * size, size});
  in_proj_bias_ = parameter("in_proj_bias", settings_.bias, {3 * size});
  out_proj_ = register_module("out_proj", torch::nn::Linear(torch::nn::LinearOptions(size, size).bias(settings_.bias)));
  bias_k_ = parameter("bias_k", settings_.add_bias_kv, {1, 1, size});
  bias_v_ = parameter("bias_v", settings_.add_bias_kv, {1, 1, size});
  for (const at::Tensor& weight : {in_proj_weight_, q_proj_weight_, k_proj_weight_, v_proj_weight_}) {
    if (weight.defined()) torch::nn::init::xavier_uniform_(weight);
  }
  if (settings_.bias) {
    torch::nn::init::zeros_(in_proj_bias_);
    torch::nn::init::zeros_(out_proj_->bias);
  }
  if (settings_.add_bias_kv) {
    torch::nn::init::xavier_normal_(bias_k_);
    torch::nn::init::xavier_normal_(bias_v_);
  }
}

// [N, heads, length, size of a head]
struct MultiheadAttentionImpl::Projected {
  at::Tensor query, key, value;
};

void MultiheadAttentionImpl::check(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const {
  const std::int64_t size = settings_.embed_dim, batch = batch_dimension(), length = 1 - batch;
  if (query.dim() != 3 || query.size(2) != size) {
    misfit("query must be [length, batch, " + std::to_string(size) + "], [batch, length, " + std::to_string(size) +
               "] with batch_first, or [length, " + std::to_string(size) + "]",
           query);
  }
  const std::int64_t kdim = settings_.kdim.value_or(size), vdim = settings_.vdim.value_or(size);
  if (key.dim() != 3 || key.size(batch) != query.size(batch) || key.size(2) != kdim) {
    misfit("key must have the query's batch of " + std::to_string(query.size(batch)) + " and " + std::to_string(kdim) +
               " features",
           key);
  }
  if (value.dim() != 3 || value.size(batch) != key.size(batch) || value.size(length) != key.size(length) ||
      value.size(2) != vdim) {
    misfit(
        "value must be as long as the key " + c10::str(key.sizes()) + " and have " + std::to_string(vdim) + " features",
        value);
  }
}

at::Tensor MultiheadAttentionImpl::heads(const at::Tensor& projected) const {
  const at::Tensor split = projected.unflatten(2, {settings_.num_heads, -1});
  return settings_.batch_first ? split.transpose(1, 2) : split.permute({1, 2, 0, 3});
}

at::Tensor MultiheadAttentionImpl::merged(const at::Tensor& attended) const {
  return (settings_.batch_first ? attended.transpose(1, 2) : attended.permute({2, 0, 1, 3})).flatten(2);
}

MultiheadAttentionImpl::Projected MultiheadAttentionImpl::project(const at::Tensor& query, const at::Tensor& key,
                                                                  const at::Tensor& value) const {
  std::vector<at::Tensor> weights{q_proj_weight_, k_proj_weight_, v_proj_weight_};
  std::vector<at::Tensor> biases(3), made(3);
  if (in_proj_bias_.defined()) biases = in_proj_bias_.chunk(3);
  if (in_proj_weight_.defined() && query.is_same(key) && key.is_same(value)) {
    made = at::linear(query, in_proj_weight_, in_proj_bias_).chunk(3, -1);
  } else {
    if (in_proj_weight_.defined()) weights = in_proj_weight_.chunk(3);
    const at::Tensor inputs[] = {query, key, value};
    for (std::size_t i = 0; i < 3; ++i) made[i] = at::linear(inputs[i], weights[i], biases[i]);
  }
  Projected projected{heads(made[0]), heads(made[1]), heads(made[2])};
  const auto append = [&](const at::Tensor& key_part, const at::Tensor& value_part) {
    projected.key = at::cat({projected.key, key_part}, 2);
    projected.value = at::cat({projected.value, value_part}, 2);
  };
  std::vector<std::int64_t> one = projected.key.sizes().vec();
  one[2] = 1;
  if (bias_k_.defined()) {
    const auto as_head = [&](const at::Tensor& bias) { return bias.view({1, settings_.num_heads, 1, -1}).expand(one); };
    append(as_head(bias_k_), as_head(bias_v_));
  }
  if (settings_.add_zero_attn)
    append(at::zeros(one, projected.key.options()), at::zeros(one, projected.value.options()));
  return projected;
}

// Both masks as one that broadcasts to [N, heads, L, S], or an undefined one. Nothing masks the keys that were
// appended.
at::Tensor MultiheadAttentionImpl::whole_mask(const at::Tensor& attn_mask, const at::Tensor& key_padding_mask,
                                              const Projected& of) const {
  const std::int64_t batch = of.query.size(0), queries = of.query.size(2);
  const std::int64_t appended = (bias_k_.defined() ? 1 : 0) + (settings_.add_zero_attn ? 1 : 0);
  const std::int64_t keys = of.key.size(2) - appended;
  at::Tensor whole;
  if (attn_mask.defined()) {
    if (attn_mask.sizes() == at::IntArrayRef{queries, keys}) {
      whole = attn_mask.view({1, 1, queries, keys});
    } else if (attn_mask.sizes() == at::IntArrayRef{batch * settings_.num_heads, queries, keys}) {
      whole = attn_mask.reshape({batch, settings_.num_heads, queries, keys});
    } else {
      misfit("attn_mask must be " + c10::str(at::IntArrayRef{queries, keys}) + " or " +
                 c10::str(at::IntArrayRef{batch * settings_.num_heads, queries, keys}),
             attn_mask);
    }
  }
  if (key_padding_mask.defined()) {
    if (key_padding_mask.sizes() != at::IntArrayRef{batch, keys}) {
      misfit("key_padding_mask must be " + c10::str(at::IntArrayRef{batch, keys}), key_padding_mask);
    }
    const at::Tensor padding = key_padding_mask.reshape({batch, 1, 1, keys});
    whole = whole.defined() ? whole + padding : padding;
  }
  return whole.defined() && appended > 0 ? at::constant_pad_nd(whole, {0, appended}) : whole;
}

std::tuple<at::Tensor, at::Tensor> MultiheadAttentionImpl::forward(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& key_padding_mask,
    std::optional<bool> need_weights, const at::Tensor& attn_mask, std::optional<bool> average_attn_weights,
    std::optional<bool> is_causal) {
  if (query.dim() == 2 && key.dim() == 2 && value.dim() == 2) {
    const auto batch = [&](const at::Tensor& one) { return one.unsqueeze(batch_dimension()); };
    const at::Tensor only_query = batch(query);
    const at::Tensor only_key = key.is_same(query) ? only_query : batch(key);
    const at::Tensor only_value = value.is_same(key) ? only_key : batch(value);
    auto [output, weights] = forward(only_query, only_key, only_value,
                                     key_padding_mask.defined() ? key_padding_mask.unsqueeze(0) : at::Tensor(),
                                     need_weights, attn_mask, average_attn_weights, is_causal);
    return {output.squeeze(batch_dimension()), weights.defined() ? weights.squeeze(0) : weights};
  }
  check(query, key, value);
  const Projected of = project(query, key, value);
  const bool weighs = need_weights.value_or(true), causal = is_causal.value_or(false);
  const bool appends = bias_k_.defined() || settings_.add_zero_attn;
  at::Tensor mask = additive_mask(attn_mask, "attn_mask", query.scalar_type());
  const at::Tensor padding = additive_mask(key_padding_mask, "key_padding_mask", query.scalar_type());
  // Kernels that know of causality need no mask for it.
  const bool kernel_masks = causal && !weighs && !padding.defined() && !appends;
  if (kernel_masks) {
    mask = at::Tensor();
  } else if (causal && !mask.defined()) {
    mask =
        causal_mask(of.query.size(2), of.key.size(2) - (bias_k_.defined() ? 1 : 0) - (settings_.add_zero_attn ? 1 : 0),
                    query.options());
  }
  mask = whole_mask(mask, padding, of);
  const double dropout = is_training() ? settings_.dropout : 0;
  if (!weighs) {
    const std::optional<at::Tensor> given = mask.defined() ? std::make_optional(mask) : std::nullopt;
    return {
        out_proj_(merged(at::scaled_dot_product_attention(of.query, of.key, of.value, given, dropout, kernel_masks))),
        at::Tensor()};
  }
  const double scale = std::sqrt(1.0 / static_cast<double>(of.query.size(3)));
  at::Tensor weights = at::matmul(of.query * scale, of.key.transpose(-2, -1));
  if (mask.defined()) weights = weights + mask;
  weights = at::softmax(weights, -1);
  if (dropout > 0) weights = at::dropout(weights, dropout, true);
  const at::Tensor output = out_proj_(merged(at::matmul(weights, of.value)));
  return {output, average_attn_weights.value_or(true) ? weights.mean(1) : weights};
}

at::ArrayRef<Registered> attentions() {
  return kAttentions;
}

}  // namespace tandem::nn
