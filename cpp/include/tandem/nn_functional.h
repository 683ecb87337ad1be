// What torch.nn.functional has in Python and LibTorch has no operator for, as Python composes it. Source:
// torch.nn.functional.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <tuple>

#include "tandem/export.h"

namespace tandem::nn::functional {

// All throw tandem::Error (kInvalidArgument) naming what does not fit. Random numbers come from the default generator
// of the device: seeded alike, they are Python's.

// Resizes the 1 to 3 last dimensions of [batch, channels, …] to `size`, or by `scale_factor`: one number for each, or
// one for all; exactly one of both is given. `mode` is "nearest", "nearest-exact" or "area"; "linear" for one
// dimension, "bilinear" or "bicubic" for two, "trilinear" for three, which take `align_corners` (false).
// recompute_scale_factor: scales follow from the sizes, rounded down, that they lead to. antialias: for "bilinear" and
// "bicubic", smaller images.
TANDEM_API at::Tensor interpolate(const at::Tensor& input, at::OptionalIntArrayRef size,
                                  std::optional<at::ArrayRef<double>> scale_factor = {},
                                  const std::string& mode = "nearest", std::optional<bool> align_corners = {},
                                  bool recompute_scale_factor = false, bool antialias = false);

// input / max(its p-norm over `dim`, eps).
TANDEM_API at::Tensor normalize(const at::Tensor& input, double p = 2, at::IntArrayRef dim = 1, double eps = 1e-12);

// The blocks that a window of kernel_size meets in images [batch, channels, height, width], or without batch, as
// columns [batch, channels · kernel elements, blocks]; fold adds them up again, to images of output_size. Numbers are
// those of height and width, or one for both.
TANDEM_API at::Tensor unfold(const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef dilation = 1,
                             at::IntArrayRef padding = 0, at::IntArrayRef stride = 1);
TANDEM_API at::Tensor fold(const at::Tensor& input, at::IntArrayRef output_size, at::IntArrayRef kernel_size,
                           at::IntArrayRef dilation = 1, at::IntArrayRef padding = 0, at::IntArrayRef stride = 1);

// Samples images [batch, channels, height, width] at `grid` [batch, h, w, 2] of (x, y) from -1 to 1, or volumes [batch,
// channels, depth, height, width] at [batch, d, h, w, 3]. `mode` is "bilinear", "nearest" or, for images, "bicubic";
// padding_mode, of what lies outside, "zeros", "border" or "reflection".
TANDEM_API at::Tensor grid_sample(const at::Tensor& input, const at::Tensor& grid, const std::string& mode = "bilinear",
                                  const std::string& padding_mode = "zeros", bool align_corners = false);

// The grid, for grid_sample(), to which affine maps `theta` [batch, 2, 3] take the pixels of images of `size` [batch,
// channels, height, width]; [batch, 3, 4] for volumes.
TANDEM_API at::Tensor affine_grid(const at::Tensor& theta, at::IntArrayRef size, bool align_corners = false);

// Samples from the Gumbel-Softmax distribution over `dim`. hard: one-hot, with the gradients of those that are not.
// Jang et al. 2016.
TANDEM_API at::Tensor gumbel_softmax(const at::Tensor& logits, double tau = 1, bool hard = false,
                                     std::int64_t dim = -1);

// Zero whole channels with probability p when training, and scale the others: of [batch, channels, length], [batch,
// channels, height, width] and [batch, channels, depth, height, width]. dropout1d and dropout3d take inputs without
// batch too; dropout2d takes three dimensions as [batch, channels, length].
TANDEM_API at::Tensor dropout1d(const at::Tensor& input, double p = 0.5, bool training = true);
TANDEM_API at::Tensor dropout2d(const at::Tensor& input, double p = 0.5, bool training = true);
TANDEM_API at::Tensor dropout3d(const at::Tensor& input, double p = 0.5, bool training = true);

// Negative log likelihood of `target` under normal distributions of mean `input` and variance `var`, which has the
// input's shape, or 1 in one dimension, or not the last one; variances below `eps` count as that. full: with the
// constant term. Waits for the device, to refuse negative variances. Nix and Weigend 1994.
TANDEM_API at::Tensor gaussian_nll_loss(const at::Tensor& input, const at::Tensor& target, const at::Tensor& var,
                                        bool full = false, double eps = 1e-6,
                                        std::int64_t reduction = at::Reduction::Mean);

// Cross entropy of each class by itself, averaged over classes, the last dimension; `weight` [classes] may be
// undefined.
TANDEM_API at::Tensor multilabel_soft_margin_loss(const at::Tensor& input, const at::Tensor& target,
                                                  const std::optional<at::Tensor>& weight = {},
                                                  std::int64_t reduction = at::Reduction::Mean);

// input / (k + alpha · mean of squares over `size` neighbouring channels)^beta, of [batch, channels, …]. Krizhevsky et
// al. 2012.
TANDEM_API at::Tensor local_response_norm(const at::Tensor& input, std::int64_t size, double alpha = 1e-4,
                                          double beta = 0.75, double k = 1);

// The p-norm, p = norm_type, of windows of the 1 to 3 last dimensions; `stride` is the window's size where not given.
TANDEM_API at::Tensor lp_pool1d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                                at::OptionalIntArrayRef stride = {}, bool ceil_mode = false);
TANDEM_API at::Tensor lp_pool2d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                                at::OptionalIntArrayRef stride = {}, bool ceil_mode = false);
TANDEM_API at::Tensor lp_pool3d(const at::Tensor& input, double norm_type, at::IntArrayRef kernel_size,
                                at::OptionalIntArrayRef stride = {}, bool ceil_mode = false);

// softmax(-input); input / (1 + |input|); input - tanh(input).
TANDEM_API at::Tensor softmin(const at::Tensor& input, std::int64_t dim, std::optional<at::ScalarType> dtype = {});
TANDEM_API at::Tensor softsign(const at::Tensor& input);
TANDEM_API at::Tensor tanhshrink(const at::Tensor& input);

// Multi-head attention. query [length, batch, embed], key and value [source, batch, …], or all without batch.
// in_proj_weight [3 · embed, embed] and in_proj_bias project all three; with use_separate_proj_weight q_proj_weight,
// k_proj_weight and v_proj_weight do. bias_k and bias_v [1, 1, embed] are one source position more, add_zero_attn one
// of zeros. static_k and static_v [batch · heads, source, head] take the place of projected ones. key_padding_mask
// [batch, source] and attn_mask ([length, source] or [batch · heads, length, source]) are added to the logits or, of
// bool, say what is left out. is_causal is a hint that attn_mask is the causal one. Gives the output, of the query's
// shape, and the weights, [batch, length, source] (or with the heads, where they are not averaged); undefined without
// need_weights, where scaled_dot_product_attention computes. Vaswani et al. 2017.
TANDEM_API std::tuple<at::Tensor, at::Tensor> multi_head_attention_forward(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::int64_t embed_dim_to_check,
    std::int64_t num_heads, const std::optional<at::Tensor>& in_proj_weight,
    const std::optional<at::Tensor>& in_proj_bias, const std::optional<at::Tensor>& bias_k,
    const std::optional<at::Tensor>& bias_v, bool add_zero_attn, double dropout_p, const at::Tensor& out_proj_weight,
    const std::optional<at::Tensor>& out_proj_bias, bool training = true,
    const std::optional<at::Tensor>& key_padding_mask = {}, bool need_weights = true,
    const std::optional<at::Tensor>& attn_mask = {}, bool use_separate_proj_weight = false,
    const std::optional<at::Tensor>& q_proj_weight = {}, const std::optional<at::Tensor>& k_proj_weight = {},
    const std::optional<at::Tensor>& v_proj_weight = {}, const std::optional<at::Tensor>& static_k = {},
    const std::optional<at::Tensor>& static_v = {}, bool average_attn_weights = true, bool is_causal = false);

}  // namespace tandem::nn::functional
