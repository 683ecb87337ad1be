#include "nn/modules/attention.h"

#include "nn/modules/wrap.h"

namespace tandem::nn {
namespace {

[[noreturn]] void misfit(const std::string& what, const at::Tensor& given) {
  throw Error(ErrorCode::kInvalidArgument, "MultiheadAttention: the " + what + ", not " + c10::str(given.sizes()));
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
  const AttentionWeights weights{in_proj_weight_, q_proj_weight_, k_proj_weight_,    v_proj_weight_, in_proj_bias_,
                                 bias_k_,         bias_v_,        out_proj_->weight, out_proj_->bias};
  return attend(query, key, value, weights,
                {.num_heads = settings_.num_heads,
                 .batch_first = settings_.batch_first,
                 .add_zero_attn = settings_.add_zero_attn,
                 .need_weights = need_weights.value_or(true),
                 .average_weights = average_attn_weights.value_or(true),
                 .causal = is_causal.value_or(false),
                 .dropout = is_training() ? settings_.dropout : 0,
                 .key_padding_mask = key_padding_mask,
                 .attn_mask = attn_mask,
                 .static_k = {},
                 .static_v = {}});
}

at::ArrayRef<Registered> attentions() {
  return kAttentions;
}

}  // namespace tandem::nn
