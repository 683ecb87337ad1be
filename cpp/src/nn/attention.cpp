#include "nn/attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/invalid.h"

namespace tandem::nn {
namespace {

void need_mask(bool fits, const std::string& name, const std::string& sizes, const at::Tensor& given) {
  if (!fits) invalid("attention: " + name + " must be " + sizes + ", not " + c10::str(given.sizes()));
}

std::string shown(at::IntArrayRef sizes) {
  return c10::str(sizes);
}

// [N, heads, length, size of a head]
struct Projected {
  at::Tensor query, key, value;
};

class Attention {
 public:
  Attention(const AttentionWeights& weights, const AttentionCall& call) : weights_(weights), call_(call) {}

  std::tuple<at::Tensor, at::Tensor> operator()(const at::Tensor& query, const at::Tensor& key,
                                                const at::Tensor& value) const {
    const Projected of = project(query, key, value);
    const at::ScalarType dtype = query.scalar_type();
    const at::Tensor padding = additive_mask(call_.key_padding_mask, "key_padding_mask", dtype);
    // Kernels that know of causality need no mask for it, but take appended keys for the last ones. So does Python,
    // which wants the mask beside the hint, and leaves it away then.
    const bool kernel_masks = call_.causal && !call_.need_weights && !padding.defined() &&
                              (appended() == 0 || call_.attn_mask.defined());
    at::Tensor mask;
    if (!kernel_masks) mask = additive_mask(call_.attn_mask, "attn_mask", dtype);
    if (call_.causal && !kernel_masks && !mask.defined()) {
      mask = at::full({of.query.size(2), of.key.size(2) - appended()}, -std::numeric_limits<double>::infinity(),
                      query.options())
                 .triu(1);
    }
    mask = whole_mask(mask, padding, of);
    return call_.need_weights ? with_weights(of, mask) : by_kernel(of, mask, kernel_masks);
  }

 private:
  std::int64_t appended() const { return (weights_.bias_k.defined() ? 1 : 0) + (call_.add_zero_attn ? 1 : 0); }

  at::Tensor heads(const at::Tensor& projected) const {
    const at::Tensor split = projected.unflatten(2, {call_.num_heads, -1});
    return call_.batch_first ? split.transpose(1, 2) : split.permute({1, 2, 0, 3});
  }

  at::Tensor output(const at::Tensor& attended) const {
    const at::Tensor merged = call_.batch_first ? attended.transpose(1, 2) : attended.permute({2, 0, 1, 3});
    return at::linear(merged.flatten(2), weights_.out_proj, weights_.out_bias);
  }

  // Inputs that are one tensor in one product.
  std::vector<at::Tensor> products(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const {
    std::vector<at::Tensor> weights{weights_.q_proj, weights_.k_proj, weights_.v_proj}, biases(3);
    if (weights_.in_bias.defined()) biases = weights_.in_bias.chunk(3);
    if (weights_.in_proj.defined()) {
      if (query.is_same(key) && key.is_same(value)) {
        return at::linear(query, weights_.in_proj, weights_.in_bias).chunk(3, -1);
      }
      weights = weights_.in_proj.chunk(3);
      if (key.is_same(value)) {
        const std::int64_t size = weights[0].size(0);
        const auto later = [&](const at::Tensor& all) { return all.defined() ? all.narrow(0, size, 2 * size) : all; };
        const auto both = at::linear(key, later(weights_.in_proj), later(weights_.in_bias)).chunk(2, -1);
        return {at::linear(query, weights[0], biases[0]), both[0], both[1]};
      }
    }
    return {at::linear(query, weights[0], biases[0]), at::linear(key, weights[1], biases[1]),
            at::linear(value, weights[2], biases[2])};
  }

  Projected project(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const {
    const auto made = products(query, key, value);
    Projected projected{heads(made[0]), heads(made[1]), heads(made[2])};
    const auto fixed = [&](const at::Tensor& given, at::Tensor& of) {
      if (given.defined()) of = given.unflatten(0, {-1, call_.num_heads});
    };
    fixed(call_.static_k, projected.key);
    fixed(call_.static_v, projected.value);
    std::vector<std::int64_t> one = projected.key.sizes().vec();
    one[2] = 1;
    const auto append = [&](const at::Tensor& key_part, const at::Tensor& value_part) {
      projected.key = at::cat({projected.key, key_part}, 2);
      projected.value = at::cat({projected.value, value_part}, 2);
    };
    if (weights_.bias_k.defined()) {
      const auto as_head = [&](const at::Tensor& bias) {
        return bias.reshape({1, call_.num_heads, 1, -1}).expand(one);
      };
      append(as_head(weights_.bias_k), as_head(weights_.bias_v));
    }
    if (call_.add_zero_attn) {
      append(at::zeros(one, projected.key.options()), at::zeros(one, projected.value.options()));
    }
    return projected;
  }

  // Both masks as one that broadcasts to [N, heads, L, S], or an undefined one. Nothing masks the keys that were
  // appended.
  at::Tensor whole_mask(const at::Tensor& attn_mask, const at::Tensor& padding, const Projected& of) const {
    const std::int64_t batch = of.query.size(0), queries = of.query.size(2), keys = of.key.size(2) - appended();
    at::Tensor whole;
    if (attn_mask.defined()) {
      const std::vector<std::int64_t> one{queries, keys}, each{batch * call_.num_heads, queries, keys};
      need_mask(attn_mask.sizes() == one || attn_mask.sizes() == each, "attn_mask", shown(one) + " or " + shown(each),
                attn_mask);
      whole = attn_mask.reshape(
          {attn_mask.dim() == 2 ? 1 : batch, attn_mask.dim() == 2 ? 1 : call_.num_heads, queries, keys});
    }
    if (padding.defined()) {
      const std::vector<std::int64_t> sizes{batch, keys};
      need_mask(padding.sizes() == sizes, "key_padding_mask", shown(sizes), padding);
      const at::Tensor added = padding.reshape({batch, 1, 1, keys});
      whole = whole.defined() ? whole + added : added;
    }
    return whole.defined() && appended() > 0 ? at::constant_pad_nd(whole, {0, appended()}) : whole;
  }

  std::tuple<at::Tensor, at::Tensor> by_kernel(const Projected& of, const at::Tensor& mask, bool causal) const {
    const auto given = mask.defined() ? std::make_optional(mask) : std::nullopt;
    return {output(at::scaled_dot_product_attention(of.query, of.key, of.value, given, call_.dropout, causal)),
            at::Tensor()};
  }

  std::tuple<at::Tensor, at::Tensor> with_weights(const Projected& of, const at::Tensor& mask) const {
    const double scale = std::sqrt(1.0 / static_cast<double>(of.query.size(3)));
    at::Tensor weights = at::matmul(of.query * scale, of.key.transpose(-2, -1));
    if (mask.defined()) weights = weights + mask;
    weights = at::softmax(weights, -1);
    if (call_.dropout > 0) weights = at::dropout(weights, call_.dropout, true);
    return {output(at::matmul(weights, of.value)), call_.average_weights ? weights.mean(1) : weights};
  }

  const AttentionWeights& weights_;
  const AttentionCall& call_;
};

}  // namespace

at::Tensor additive_mask(const at::Tensor& mask, const char* name, at::ScalarType dtype) {
  if (!mask.defined() || mask.is_floating_point()) return mask;
  if (mask.scalar_type() != at::kBool) {
    invalid(std::string("attention: ") + name + " must be of bool or a floating-point dtype, not " +
            at::toString(mask.scalar_type()));
  }
  return at::zeros_like(mask, mask.options().dtype(dtype)).masked_fill_(mask, -std::numeric_limits<double>::infinity());
}

std::tuple<at::Tensor, at::Tensor> attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          const AttentionWeights& weights, const AttentionCall& call) {
  return Attention(weights, call)(query, key, value);
}

}  // namespace tandem::nn
