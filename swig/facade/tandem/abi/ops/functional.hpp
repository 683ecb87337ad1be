// Written by capi/operators/generate.py; do not edit.
// Layers and losses as functions: torch.nn.functional.
#pragma once

#include "tandem/abi/ops/call.hpp"

namespace tandem::abi::ops::functional {

// adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor
inline Tensor adaptive_avg_pool1d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_avg_pool1d");
  return Call(op).tensor(self).integers(output_size).one();
}

// adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor
inline Tensor adaptive_avg_pool2d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_avg_pool2d");
  return Call(op).tensor(self).integers(output_size).one();
}

// adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor adaptive_avg_pool2d_out(const Tensor& self, const std::vector<int64_t>& output_size, const Tensor& out) {
  static const Operator op = Operator::find("aten::adaptive_avg_pool2d", "out");
  return Call(op).tensor(self).integers(output_size).tensor(out).one();
}

// adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor
inline Tensor adaptive_avg_pool3d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_avg_pool3d");
  return Call(op).tensor(self).integers(output_size).one();
}

// adaptive_avg_pool3d.out(Tensor self, SymInt[3] output_size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor adaptive_avg_pool3d_out(const Tensor& self, const std::vector<int64_t>& output_size, const Tensor& out) {
  static const Operator op = Operator::find("aten::adaptive_avg_pool3d", "out");
  return Call(op).tensor(self).integers(output_size).tensor(out).one();
}

// adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_max_pool1d");
  return Call(op).tensor(self).integers(output_size).two();
}

// adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_max_pool2d");
  return Call(op).tensor(self).integers(output_size).two();
}

// adaptive_max_pool2d.out(Tensor self, int[2] output_size, *, Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!),
//     Tensor(b!))
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d_out(const Tensor& self,
    const std::vector<int64_t>& output_size, const Tensor& out, const Tensor& indices) {
  static const Operator op = Operator::find("aten::adaptive_max_pool2d", "out");
  return Call(op).tensor(self).integers(output_size).tensor(out).tensor(indices).two();
}

// adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::adaptive_max_pool3d");
  return Call(op).tensor(self).integers(output_size).two();
}

// adaptive_max_pool3d.out(Tensor self, int[3] output_size, *, Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!),
//     Tensor(b!))
inline std::tuple<Tensor, Tensor> adaptive_max_pool3d_out(const Tensor& self,
    const std::vector<int64_t>& output_size, const Tensor& out, const Tensor& indices) {
  static const Operator op = Operator::find("aten::adaptive_max_pool3d", "out");
  return Call(op).tensor(self).integers(output_size).tensor(out).tensor(indices).two();
}

// affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor
inline Tensor affine_grid_generator(const Tensor& theta, const std::vector<int64_t>& size, bool align_corners) {
  static const Operator op = Operator::find("aten::affine_grid_generator");
  return Call(op).tensor(theta).integers(size).flag(align_corners).one();
}

// alpha_dropout(Tensor input, float p, bool train) -> Tensor
inline Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  static const Operator op = Operator::find("aten::alpha_dropout");
  return Call(op).tensor(input).real(p).flag(train).one();
}

// alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)
inline Tensor alpha_dropout_(const Tensor& self, double p, bool train) {
  static const Operator op = Operator::find("aten::alpha_dropout_");
  return Call(op).tensor(self).real(p).flag(train).one();
}

// avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool
//     count_include_pad=True) -> Tensor
inline Tensor avg_pool1d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {}, const std::optional<bool>& ceil_mode = {},
    const std::optional<bool>& count_include_pad = {}) {
  static const Operator op = Operator::find("aten::avg_pool1d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(ceil_mode, &Call::flag).option(count_include_pad, &Call::flag).one();
}

// avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool
//     count_include_pad=True, int? divisor_override=None) -> Tensor
inline Tensor avg_pool2d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {}, const std::optional<bool>& ceil_mode = {},
    const std::optional<bool>& count_include_pad = {}, const std::optional<int64_t>& divisor_override = {}) {
  static const Operator op = Operator::find("aten::avg_pool2d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(ceil_mode, &Call::flag).option(count_include_pad, &Call::flag)
      .option(divisor_override, &Call::integer).one();
}

// avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool
//     count_include_pad=True, int? divisor_override=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor avg_pool2d_out(const Tensor& self, const std::vector<int64_t>& kernel_size, const Tensor& out,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {}, const std::optional<bool>& ceil_mode = {},
    const std::optional<bool>& count_include_pad = {}, const std::optional<int64_t>& divisor_override = {}) {
  static const Operator op = Operator::find("aten::avg_pool2d", "out");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(ceil_mode, &Call::flag).option(count_include_pad, &Call::flag)
      .option(divisor_override, &Call::integer).tensor(out).one();
}

// avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool
//     count_include_pad=True, int? divisor_override=None) -> Tensor
inline Tensor avg_pool3d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {}, const std::optional<bool>& ceil_mode = {},
    const std::optional<bool>& count_include_pad = {}, const std::optional<int64_t>& divisor_override = {}) {
  static const Operator op = Operator::find("aten::avg_pool3d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(ceil_mode, &Call::flag).option(count_include_pad, &Call::flag)
      .option(divisor_override, &Call::integer).one();
}

// avg_pool3d.out(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool
//     count_include_pad=True, int? divisor_override=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor avg_pool3d_out(const Tensor& self, const std::vector<int64_t>& kernel_size, const Tensor& out,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {}, const std::optional<bool>& ceil_mode = {},
    const std::optional<bool>& count_include_pad = {}, const std::optional<int64_t>& divisor_override = {}) {
  static const Operator op = Operator::find("aten::avg_pool3d", "out");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(ceil_mode, &Call::flag).option(count_include_pad, &Call::flag)
      .option(divisor_override, &Call::integer).tensor(out).one();
}

// batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training,
//     float momentum, float eps, bool cudnn_enabled) -> Tensor
inline Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
    const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled) {
  static const Operator op = Operator::find("aten::batch_norm");
  return Call(op).tensor(input).tensor(weight).tensor(bias).tensor(running_mean).tensor(running_var).flag(training)
      .real(momentum).real(eps).flag(cudnn_enabled).one();
}

// bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  static const Operator op = Operator::find("aten::bilinear");
  return Call(op).tensor(input1).tensor(input2).tensor(weight).tensor(bias).one();
}

// binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor
inline Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = Tensor(),
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::binary_cross_entropy");
  return Call(op).tensor(self).tensor(target).tensor(weight).option(reduction, &Call::integer).one();
}

// binary_cross_entropy.out(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, *, Tensor(a!) out) ->
//     Tensor(a!)
inline Tensor binary_cross_entropy_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const Tensor& weight = Tensor(), const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::binary_cross_entropy", "out");
  return Call(op).tensor(self).tensor(target).tensor(weight).option(reduction, &Call::integer).tensor(out).one();
}

// binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int
//     reduction=1) -> Tensor
inline Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
    const Tensor& weight = Tensor(), const Tensor& pos_weight = Tensor(),
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::binary_cross_entropy_with_logits");
  return Call(op).tensor(self).tensor(target).tensor(weight).tensor(pos_weight).option(reduction, &Call::integer)
      .one();
}

// celu(Tensor self, Scalar alpha=1.) -> Tensor
inline Tensor celu(const Tensor& self, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::celu");
  return Call(op).tensor(self).option(alpha, &Call::scalar).one();
}

// celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)
inline Tensor celu_(const Tensor& self, const std::optional<Scalar>& alpha = {}) {
  static const Operator op = Operator::find("aten::celu_");
  return Call(op).tensor(self).option(alpha, &Call::scalar).one();
}

// channel_shuffle(Tensor self, SymInt groups) -> Tensor
inline Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  static const Operator op = Operator::find("aten::channel_shuffle");
  return Call(op).tensor(self).integer(groups).one();
}

// col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride)
//     -> Tensor
inline Tensor col2im(const Tensor& self, const std::vector<int64_t>& output_size,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& dilation,
    const std::vector<int64_t>& padding, const std::vector<int64_t>& stride) {
  static const Operator op = Operator::find("aten::col2im");
  return Call(op).tensor(self).integers(output_size).integers(kernel_size).integers(dilation).integers(padding)
      .integers(stride).one();
}

// col2im.out(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2]
//     stride, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor col2im_out(const Tensor& self, const std::vector<int64_t>& output_size,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& dilation,
    const std::vector<int64_t>& padding, const std::vector<int64_t>& stride, const Tensor& out) {
  static const Operator op = Operator::find("aten::col2im", "out");
  return Call(op).tensor(self).integers(output_size).integers(kernel_size).integers(dilation).integers(padding)
      .integers(stride).tensor(out).one();
}

// conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1]
//     dilation=[1], SymInt groups=1) -> Tensor
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv1d");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding="valid",
//     SymInt[1] dilation=[1], SymInt groups=1) -> Tensor
inline Tensor conv1d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {}, const std::optional<std::string>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv1d", "padding");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::string).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0],
//     SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv2d");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding="valid",
//     SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor
inline Tensor conv2d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {}, const std::optional<std::string>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv2d", "padding");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::string).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0],
//     SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv3d");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding="valid",
//     SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor
inline Tensor conv3d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {}, const std::optional<std::string>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<int64_t>& groups = {}) {
  static const Operator op = Operator::find("aten::conv3d", "padding");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::string).option(dilation, &Call::integers).option(groups, &Call::integer).one();
}

// conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor
inline Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias,
    const std::optional<int64_t>& pad = {}) {
  static const Operator op = Operator::find("aten::conv_tbc");
  return Call(op).tensor(self).tensor(weight).tensor(bias).option(pad, &Call::integer).one();
}

// conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0],
//     SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor
inline Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& output_padding = {}, const std::optional<int64_t>& groups = {},
    const std::optional<std::vector<int64_t>>& dilation = {}) {
  static const Operator op = Operator::find("aten::conv_transpose1d");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(output_padding, &Call::integers).option(groups, &Call::integer)
      .option(dilation, &Call::integers).one();
}

// conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2]
//     padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor
inline Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& output_padding = {}, const std::optional<int64_t>& groups = {},
    const std::optional<std::vector<int64_t>>& dilation = {}) {
  static const Operator op = Operator::find("aten::conv_transpose2d", "input");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(output_padding, &Call::integers).option(groups, &Call::integer)
      .option(dilation, &Call::integers).one();
}

// conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3]
//     padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor
inline Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& output_padding = {}, const std::optional<int64_t>& groups = {},
    const std::optional<std::vector<int64_t>>& dilation = {}) {
  static const Operator op = Operator::find("aten::conv_transpose3d", "input");
  return Call(op).tensor(input).tensor(weight).tensor(bias).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(output_padding, &Call::integers).option(groups, &Call::integer)
      .option(dilation, &Call::integers).one();
}

// cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
    const std::optional<double>& margin = {}, const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::cosine_embedding_loss");
  return Call(op).tensor(input1).tensor(input2).tensor(target).option(margin, &Call::real)
      .option(reduction, &Call::integer).one();
}

// cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const std::optional<int64_t>& dim = {},
    const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::cosine_similarity");
  return Call(op).tensor(x1).tensor(x2).option(dim, &Call::integer).option(eps, &Call::real).one();
}

// cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100,
//     float label_smoothing=0.) -> Tensor
inline Tensor cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = Tensor(),
    const std::optional<int64_t>& reduction = {}, const std::optional<int64_t>& ignore_index = {},
    const std::optional<double>& label_smoothing = {}) {
  static const Operator op = Operator::find("aten::cross_entropy_loss");
  return Call(op).tensor(self).tensor(target).tensor(weight).option(reduction, &Call::integer)
      .option(ignore_index, &Call::integer).option(label_smoothing, &Call::real).one();
}

// ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int
//     reduction=1, bool zero_infinity=False) -> Tensor
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const std::vector<int64_t>& input_lengths,
    const std::vector<int64_t>& target_lengths, const std::optional<int64_t>& blank = {},
    const std::optional<int64_t>& reduction = {}, const std::optional<bool>& zero_infinity = {}) {
  static const Operator op = Operator::find("aten::ctc_loss", "IntList");
  return Call(op).tensor(log_probs).tensor(targets).integers(input_lengths).integers(target_lengths)
      .option(blank, &Call::integer).option(reduction, &Call::integer).option(zero_infinity, &Call::flag).one();
}

// ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int
//     reduction=1, bool zero_infinity=False) -> Tensor
inline Tensor ctc_loss_tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
    const Tensor& target_lengths, const std::optional<int64_t>& blank = {},
    const std::optional<int64_t>& reduction = {}, const std::optional<bool>& zero_infinity = {}) {
  static const Operator op = Operator::find("aten::ctc_loss", "Tensor");
  return Call(op).tensor(log_probs).tensor(targets).tensor(input_lengths).tensor(target_lengths)
      .option(blank, &Call::integer).option(reduction, &Call::integer).option(zero_infinity, &Call::flag).one();
}

// dropout(Tensor input, float p, bool train) -> Tensor
inline Tensor dropout(const Tensor& input, double p, bool train) {
  static const Operator op = Operator::find("aten::dropout");
  return Call(op).tensor(input).real(p).flag(train).one();
}

// dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)
inline Tensor dropout_(const Tensor& self, double p, bool train) {
  static const Operator op = Operator::find("aten::dropout_");
  return Call(op).tensor(self).real(p).flag(train).one();
}

// elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor
inline Tensor elu(const Tensor& self, const std::optional<Scalar>& alpha = {},
    const std::optional<Scalar>& scale = {}, const std::optional<Scalar>& input_scale = {}) {
  static const Operator op = Operator::find("aten::elu");
  return Call(op).tensor(self).option(alpha, &Call::scalar).option(scale, &Call::scalar)
      .option(input_scale, &Call::scalar).one();
}

// elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)
inline Tensor elu_(const Tensor& self, const std::optional<Scalar>& alpha = {},
    const std::optional<Scalar>& scale = {}, const std::optional<Scalar>& input_scale = {}) {
  static const Operator op = Operator::find("aten::elu_");
  return Call(op).tensor(self).option(alpha, &Call::scalar).option(scale, &Call::scalar)
      .option(input_scale, &Call::scalar).one();
}

// elu.out(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor elu_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& alpha = {},
    const std::optional<Scalar>& scale = {}, const std::optional<Scalar>& input_scale = {}) {
  static const Operator op = Operator::find("aten::elu", "out");
  return Call(op).tensor(self).option(alpha, &Call::scalar).option(scale, &Call::scalar)
      .option(input_scale, &Call::scalar).tensor(out).one();
}

// embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool
//     sparse=False) -> Tensor
inline Tensor embedding(const Tensor& indices, const Tensor& weight,
    const std::optional<int64_t>& padding_idx = {}, const std::optional<bool>& scale_grad_by_freq = {},
    const std::optional<bool>& sparse = {}) {
  static const Operator op = Operator::find("aten::embedding");
  return Call(op).tensor(weight).tensor(indices).option(padding_idx, &Call::integer)
      .option(scale_grad_by_freq, &Call::flag).option(sparse, &Call::flag).one();
}

// embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool
//     sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& indices, const Tensor& weight,
    const Tensor& offsets, const std::optional<bool>& scale_grad_by_freq = {},
    const std::optional<int64_t>& mode = {}, const std::optional<bool>& sparse = {},
    const Tensor& per_sample_weights = Tensor(), const std::optional<bool>& include_last_offset = {}) {
  static const Operator op = Operator::find("aten::embedding_bag");
  return Call(op).tensor(weight).tensor(indices).tensor(offsets).option(scale_grad_by_freq, &Call::flag)
      .option(mode, &Call::integer).option(sparse, &Call::flag).tensor(per_sample_weights)
      .option(include_last_offset, &Call::flag).four();
}

// embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool
//     sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag_padding_idx(const Tensor& indices,
    const Tensor& weight, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse,
    const Tensor& per_sample_weights, bool include_last_offset, const std::optional<int64_t>& padding_idx) {
  static const Operator op = Operator::find("aten::embedding_bag", "padding_idx");
  return Call(op).tensor(weight).tensor(indices).tensor(offsets).flag(scale_grad_by_freq).integer(mode).flag(sparse)
      .tensor(per_sample_weights).flag(include_last_offset).nullable(padding_idx, &Call::integer).four();
}

// feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor
inline Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  static const Operator op = Operator::find("aten::feature_alpha_dropout");
  return Call(op).tensor(input).real(p).flag(train).one();
}

// feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)
inline Tensor feature_alpha_dropout_(const Tensor& self, double p, bool train) {
  static const Operator op = Operator::find("aten::feature_alpha_dropout_");
  return Call(op).tensor(self).real(p).flag(train).one();
}

// feature_dropout(Tensor input, float p, bool train) -> Tensor
inline Tensor feature_dropout(const Tensor& input, double p, bool train) {
  static const Operator op = Operator::find("aten::feature_dropout");
  return Call(op).tensor(input).real(p).flag(train).one();
}

// feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)
inline Tensor feature_dropout_(const Tensor& self, double p, bool train) {
  static const Operator op = Operator::find("aten::feature_dropout_");
  return Call(op).tensor(self).real(p).flag(train).one();
}

// fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& output_size, const Tensor& random_samples) {
  static const Operator op = Operator::find("aten::fractional_max_pool2d");
  return Call(op).tensor(self).integers(kernel_size).integers(output_size).tensor(random_samples).two();
}

// fractional_max_pool2d.output(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples, *,
//     Tensor(a!) output, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))
inline std::tuple<Tensor, Tensor> fractional_max_pool2d_out(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& output_size, const Tensor& random_samples,
    const Tensor& output, const Tensor& indices) {
  static const Operator op = Operator::find("aten::fractional_max_pool2d", "output");
  return Call(op).tensor(self).integers(kernel_size).integers(output_size).tensor(random_samples).tensor(output)
      .tensor(indices).two();
}

// fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor,
//     Tensor)
inline std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& output_size, const Tensor& random_samples) {
  static const Operator op = Operator::find("aten::fractional_max_pool3d");
  return Call(op).tensor(self).integers(kernel_size).integers(output_size).tensor(random_samples).two();
}

// fractional_max_pool3d.output(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples, *,
//     Tensor(a!) output, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))
inline std::tuple<Tensor, Tensor> fractional_max_pool3d_out(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::vector<int64_t>& output_size, const Tensor& random_samples,
    const Tensor& output, const Tensor& indices) {
  static const Operator op = Operator::find("aten::fractional_max_pool3d", "output");
  return Call(op).tensor(self).integers(kernel_size).integers(output_size).tensor(random_samples).tensor(output)
      .tensor(indices).two();
}

// gelu(Tensor self, *, str approximate="none") -> Tensor
inline Tensor gelu(const Tensor& self, const std::optional<std::string>& approximate = {}) {
  static const Operator op = Operator::find("aten::gelu");
  return Call(op).tensor(self).option(approximate, &Call::string).one();
}

// gelu_(Tensor(a!) self, *, str approximate="none") -> Tensor(a!)
inline Tensor gelu_(const Tensor& self, const std::optional<std::string>& approximate = {}) {
  static const Operator op = Operator::find("aten::gelu_");
  return Call(op).tensor(self).option(approximate, &Call::string).one();
}

// gelu.out(Tensor self, *, str approximate="none", Tensor(a!) out) -> Tensor(a!)
inline Tensor gelu_out(const Tensor& self, const Tensor& out, const std::optional<std::string>& approximate = {}) {
  static const Operator op = Operator::find("aten::gelu", "out");
  return Call(op).tensor(self).option(approximate, &Call::string).tensor(out).one();
}

// glu(Tensor self, int dim=-1) -> Tensor
inline Tensor glu(const Tensor& self, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::glu");
  return Call(op).tensor(self).option(dim, &Call::integer).one();
}

// glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor glu_out(const Tensor& self, const Tensor& out, const std::optional<int64_t>& dim = {}) {
  static const Operator op = Operator::find("aten::glu", "out");
  return Call(op).tensor(self).option(dim, &Call::integer).tensor(out).one();
}

// grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor
inline Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
    int64_t padding_mode, bool align_corners) {
  static const Operator op = Operator::find("aten::grid_sampler");
  return Call(op).tensor(input).tensor(grid).integer(interpolation_mode).integer(padding_mode).flag(align_corners)
      .one();
}

// grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) ->
//     Tensor
inline Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
    int64_t padding_mode, bool align_corners) {
  static const Operator op = Operator::find("aten::grid_sampler_2d");
  return Call(op).tensor(input).tensor(grid).integer(interpolation_mode).integer(padding_mode).flag(align_corners)
      .one();
}

// grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) ->
//     Tensor
inline Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
    int64_t padding_mode, bool align_corners) {
  static const Operator op = Operator::find("aten::grid_sampler_3d");
  return Call(op).tensor(input).tensor(grid).integer(interpolation_mode).integer(padding_mode).flag(align_corners)
      .one();
}

// group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float
//     eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor
inline Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
    const std::optional<double>& eps = {}, const std::optional<bool>& cudnn_enabled = {}) {
  static const Operator op = Operator::find("aten::group_norm");
  return Call(op).tensor(input).integer(num_groups).tensor(weight).tensor(bias).option(eps, &Call::real)
      .option(cudnn_enabled, &Call::flag).one();
}

// hardsigmoid(Tensor self) -> Tensor
inline Tensor hardsigmoid(const Tensor& self) {
  static const Operator op = Operator::find("aten::hardsigmoid");
  return Call(op).tensor(self).one();
}

// hardsigmoid_(Tensor(a!) self) -> Tensor(a!)
inline Tensor hardsigmoid_(const Tensor& self) {
  static const Operator op = Operator::find("aten::hardsigmoid_");
  return Call(op).tensor(self).one();
}

// hardsigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hardsigmoid_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::hardsigmoid", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// hardswish(Tensor self) -> Tensor
inline Tensor hardswish(const Tensor& self) {
  static const Operator op = Operator::find("aten::hardswish");
  return Call(op).tensor(self).one();
}

// hardswish_(Tensor(a!) self) -> Tensor(a!)
inline Tensor hardswish_(const Tensor& self) {
  static const Operator op = Operator::find("aten::hardswish_");
  return Call(op).tensor(self).one();
}

// hardswish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hardswish_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::hardswish", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor
inline Tensor hardtanh(const Tensor& self, const std::optional<Scalar>& min_val = {},
    const std::optional<Scalar>& max_val = {}) {
  static const Operator op = Operator::find("aten::hardtanh");
  return Call(op).tensor(self).option(min_val, &Call::scalar).option(max_val, &Call::scalar).one();
}

// hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)
inline Tensor hardtanh_(const Tensor& self, const std::optional<Scalar>& min_val = {},
    const std::optional<Scalar>& max_val = {}) {
  static const Operator op = Operator::find("aten::hardtanh_");
  return Call(op).tensor(self).option(min_val, &Call::scalar).option(max_val, &Call::scalar).one();
}

// hardtanh.out(Tensor self, Scalar min_val=-1, Scalar max_val=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor hardtanh_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& min_val = {},
    const std::optional<Scalar>& max_val = {}) {
  static const Operator op = Operator::find("aten::hardtanh", "out");
  return Call(op).tensor(self).option(min_val, &Call::scalar).option(max_val, &Call::scalar).tensor(out).one();
}

// hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor
inline Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target,
    const std::optional<double>& margin = {}, const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::hinge_embedding_loss");
  return Call(op).tensor(self).tensor(target).option(margin, &Call::real).option(reduction, &Call::integer).one();
}

// huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor
inline Tensor huber_loss(const Tensor& self, const Tensor& target, const std::optional<int64_t>& reduction = {},
    const std::optional<double>& delta = {}) {
  static const Operator op = Operator::find("aten::huber_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).option(delta, &Call::real).one();
}

// huber_loss.out(Tensor self, Tensor target, int reduction=1, float delta=1., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor huber_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<int64_t>& reduction = {}, const std::optional<double>& delta = {}) {
  static const Operator op = Operator::find("aten::huber_loss", "out");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).option(delta, &Call::real)
      .tensor(out).one();
}

// im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor
inline Tensor im2col(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::vector<int64_t>& dilation, const std::vector<int64_t>& padding, const std::vector<int64_t>& stride) {
  static const Operator op = Operator::find("aten::im2col");
  return Call(op).tensor(self).integers(kernel_size).integers(dilation).integers(padding).integers(stride).one();
}

// im2col.out(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor(a!) out)
//     -> Tensor(a!)
inline Tensor im2col_out(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::vector<int64_t>& dilation, const std::vector<int64_t>& padding, const std::vector<int64_t>& stride,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::im2col", "out");
  return Call(op).tensor(self).integers(kernel_size).integers(dilation).integers(padding).integers(stride)
      .tensor(out).one();
}

// instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool
//     use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor
inline Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& running_mean, const Tensor& running_var, bool use_input_stats, double momentum, double eps,
    bool cudnn_enabled) {
  static const Operator op = Operator::find("aten::instance_norm");
  return Call(op).tensor(input).tensor(weight).tensor(bias).tensor(running_mean).tensor(running_var)
      .flag(use_input_stats).real(momentum).real(eps).flag(cudnn_enabled).one();
}

// kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor
inline Tensor kl_div(const Tensor& self, const Tensor& target, const std::optional<int64_t>& reduction = {},
    const std::optional<bool>& log_target = {}) {
  static const Operator op = Operator::find("aten::kl_div");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).option(log_target, &Call::flag)
      .one();
}

// l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
inline Tensor l1_loss(const Tensor& self, const Tensor& target, const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::l1_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).one();
}

// layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float
//     eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor
inline Tensor layer_norm(const Tensor& input, const std::vector<int64_t>& normalized_shape, const Tensor& weight,
    const Tensor& bias, const std::optional<double>& eps = {}, const std::optional<bool>& cudnn_enable = {}) {
  static const Operator op = Operator::find("aten::layer_norm");
  return Call(op).tensor(input).integers(normalized_shape).tensor(weight).tensor(bias).option(eps, &Call::real)
      .option(cudnn_enable, &Call::flag).one();
}

// leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor
inline Tensor leaky_relu(const Tensor& self, const std::optional<Scalar>& negative_slope = {}) {
  static const Operator op = Operator::find("aten::leaky_relu");
  return Call(op).tensor(self).option(negative_slope, &Call::scalar).one();
}

// leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)
inline Tensor leaky_relu_(const Tensor& self, const std::optional<Scalar>& negative_slope = {}) {
  static const Operator op = Operator::find("aten::leaky_relu_");
  return Call(op).tensor(self).option(negative_slope, &Call::scalar).one();
}

// leaky_relu.out(Tensor self, Scalar negative_slope=0.01, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor leaky_relu_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& negative_slope = {}) {
  static const Operator op = Operator::find("aten::leaky_relu", "out");
  return Call(op).tensor(self).option(negative_slope, &Call::scalar).tensor(out).one();
}

// linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  static const Operator op = Operator::find("aten::linear");
  return Call(op).tensor(input).tensor(weight).tensor(bias).one();
}

// linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor linear_out(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  static const Operator op = Operator::find("aten::linear", "out");
  return Call(op).tensor(input).tensor(weight).tensor(bias).tensor(out).one();
}

// log_sigmoid(Tensor self) -> Tensor
inline Tensor log_sigmoid(const Tensor& self) {
  static const Operator op = Operator::find("aten::log_sigmoid");
  return Call(op).tensor(self).one();
}

// log_sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor log_sigmoid_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::log_sigmoid", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
    const std::optional<double>& margin = {}, const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::margin_ranking_loss");
  return Call(op).tensor(input1).tensor(input2).tensor(target).option(margin, &Call::real)
      .option(reduction, &Call::integer).one();
}

// max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool
//     ceil_mode=False) -> Tensor
inline Tensor max_pool1d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool1d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).one();
}

// max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1]
//     dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool1d_with_indices");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).two();
}

// max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool
//     ceil_mode=False) -> Tensor
inline Tensor max_pool2d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool2d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).one();
}

// max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
//     bool ceil_mode=False) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool2d_with_indices");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).two();
}

// max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2]
//     dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices_out(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const Tensor& out, const Tensor& indices,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool2d_with_indices", "out");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).tensor(out)
      .tensor(indices).two();
}

// max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool
//     ceil_mode=False) -> Tensor
inline Tensor max_pool3d(const Tensor& self, const std::vector<int64_t>& kernel_size,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool3d");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).one();
}

// max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1,
//     bool ceil_mode=False) -> (Tensor, Tensor)
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool3d_with_indices");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).two();
}

// max_pool3d_with_indices.out(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3]
//     dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices_out(const Tensor& self,
    const std::vector<int64_t>& kernel_size, const Tensor& out, const Tensor& indices,
    const std::optional<std::vector<int64_t>>& stride = {},
    const std::optional<std::vector<int64_t>>& padding = {},
    const std::optional<std::vector<int64_t>>& dilation = {}, const std::optional<bool>& ceil_mode = {}) {
  static const Operator op = Operator::find("aten::max_pool3d_with_indices", "out");
  return Call(op).tensor(self).integers(kernel_size).option(stride, &Call::integers)
      .option(padding, &Call::integers).option(dilation, &Call::integers).option(ceil_mode, &Call::flag).tensor(out)
      .tensor(indices).two();
}

// max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor
inline Tensor max_unpool2d(const Tensor& self, const Tensor& indices, const std::vector<int64_t>& output_size) {
  static const Operator op = Operator::find("aten::max_unpool2d");
  return Call(op).tensor(self).tensor(indices).integers(output_size).one();
}

// max_unpool2d.out(Tensor self, Tensor indices, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor max_unpool2d_out(const Tensor& self, const Tensor& indices, const std::vector<int64_t>& output_size,
    const Tensor& out) {
  static const Operator op = Operator::find("aten::max_unpool2d", "out");
  return Call(op).tensor(self).tensor(indices).integers(output_size).tensor(out).one();
}

// max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor
inline Tensor max_unpool3d(const Tensor& self, const Tensor& indices, const std::vector<int64_t>& output_size,
    const std::vector<int64_t>& stride, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::max_unpool3d");
  return Call(op).tensor(self).tensor(indices).integers(output_size).integers(stride).integers(padding).one();
}

// max_unpool3d.out(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding, *,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor max_unpool3d_out(const Tensor& self, const Tensor& indices, const std::vector<int64_t>& output_size,
    const std::vector<int64_t>& stride, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::max_unpool3d", "out");
  return Call(op).tensor(self).tensor(indices).integers(output_size).integers(stride).integers(padding).tensor(out)
      .one();
}

// mish(Tensor self) -> Tensor
inline Tensor mish(const Tensor& self) {
  static const Operator op = Operator::find("aten::mish");
  return Call(op).tensor(self).one();
}

// mish_(Tensor(a!) self) -> Tensor(a!)
inline Tensor mish_(const Tensor& self) {
  static const Operator op = Operator::find("aten::mish_");
  return Call(op).tensor(self).one();
}

// mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mish_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::mish", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
inline Tensor mse_loss(const Tensor& self, const Tensor& target, const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::mse_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).one();
}

// mse_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor mse_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::mse_loss", "out");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).tensor(out).one();
}

// multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1)
//     -> Tensor
inline Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const std::optional<Scalar>& p = {},
    const std::optional<Scalar>& margin = {}, const Tensor& weight = Tensor(),
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::multi_margin_loss");
  return Call(op).tensor(self).tensor(target).option(p, &Call::scalar).option(margin, &Call::scalar).tensor(weight)
      .option(reduction, &Call::integer).one();
}

// multi_margin_loss.out(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int
//     reduction=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor multi_margin_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<Scalar>& p = {}, const std::optional<Scalar>& margin = {}, const Tensor& weight = Tensor(),
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::multi_margin_loss", "out");
  return Call(op).tensor(self).tensor(target).option(p, &Call::scalar).option(margin, &Call::scalar).tensor(weight)
      .option(reduction, &Call::integer).tensor(out).one();
}

// multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
inline Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::multilabel_margin_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).one();
}

// multilabel_margin_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor multilabel_margin_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::multilabel_margin_loss", "out");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).tensor(out).one();
}

// nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) ->
//     Tensor
inline Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight = Tensor(),
    const std::optional<int64_t>& reduction = {}, const std::optional<int64_t>& ignore_index = {}) {
  static const Operator op = Operator::find("aten::nll_loss_nd");
  return Call(op).tensor(self).tensor(target).tensor(weight).option(reduction, &Call::integer)
      .option(ignore_index, &Call::integer).one();
}

// one_hot(Tensor self, int num_classes=-1) -> Tensor
inline Tensor one_hot(const Tensor& self, const std::optional<int64_t>& num_classes = {}) {
  static const Operator op = Operator::find("aten::one_hot");
  return Call(op).tensor(self).option(num_classes, &Call::integer).one();
}

// pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor
inline Tensor pad(const Tensor& self, const std::vector<int64_t>& pad, const std::optional<std::string>& mode = {},
    const std::optional<double>& value = {}) {
  static const Operator op = Operator::find("aten::pad");
  return Call(op).tensor(self).integers(pad).option(mode, &Call::string).option(value, &Call::real).one();
}

// pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side="right") ->
//     Tensor
inline Tensor pad_sequence(const TensorList& sequences, const std::optional<bool>& batch_first = {},
    const std::optional<double>& padding_value = {}, const std::optional<std::string>& padding_side = {}) {
  static const Operator op = Operator::find("aten::pad_sequence");
  return Call(op).tensors(sequences).option(batch_first, &Call::flag).option(padding_value, &Call::real)
      .option(padding_side, &Call::string).one();
}

// pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) ->
//     Tensor
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const std::optional<double>& p = {},
    const std::optional<double>& eps = {}, const std::optional<bool>& keepdim = {}) {
  static const Operator op = Operator::find("aten::pairwise_distance");
  return Call(op).tensor(x1).tensor(x2).option(p, &Call::real).option(eps, &Call::real).option(keepdim, &Call::flag)
      .one();
}

// pdist(Tensor self, float p=2.) -> Tensor
inline Tensor pdist(const Tensor& self, const std::optional<double>& p = {}) {
  static const Operator op = Operator::find("aten::pdist");
  return Call(op).tensor(self).option(p, &Call::real).one();
}

// pixel_shuffle(Tensor self, int upscale_factor) -> Tensor
inline Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  static const Operator op = Operator::find("aten::pixel_shuffle");
  return Call(op).tensor(self).integer(upscale_factor).one();
}

// pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor
inline Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  static const Operator op = Operator::find("aten::pixel_unshuffle");
  return Call(op).tensor(self).integer(downscale_factor).one();
}

// poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
    int64_t reduction) {
  static const Operator op = Operator::find("aten::poisson_nll_loss");
  return Call(op).tensor(input).tensor(target).flag(log_input).flag(full).real(eps).integer(reduction).one();
}

// reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor
inline Tensor reflection_pad1d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::reflection_pad1d");
  return Call(op).tensor(self).integers(padding).one();
}

// reflection_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor reflection_pad1d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::reflection_pad1d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor
inline Tensor reflection_pad2d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::reflection_pad2d");
  return Call(op).tensor(self).integers(padding).one();
}

// reflection_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor reflection_pad2d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::reflection_pad2d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor
inline Tensor reflection_pad3d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::reflection_pad3d");
  return Call(op).tensor(self).integers(padding).one();
}

// reflection_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor reflection_pad3d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::reflection_pad3d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// relu6(Tensor self) -> Tensor
inline Tensor relu6(const Tensor& self) {
  static const Operator op = Operator::find("aten::relu6");
  return Call(op).tensor(self).one();
}

// relu6_(Tensor(a!) self) -> Tensor(a!)
inline Tensor relu6_(const Tensor& self) {
  static const Operator op = Operator::find("aten::relu6_");
  return Call(op).tensor(self).one();
}

// replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor
inline Tensor replication_pad1d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::replication_pad1d");
  return Call(op).tensor(self).integers(padding).one();
}

// replication_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor replication_pad1d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::replication_pad1d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor
inline Tensor replication_pad2d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::replication_pad2d");
  return Call(op).tensor(self).integers(padding).one();
}

// replication_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor replication_pad2d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::replication_pad2d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor
inline Tensor replication_pad3d(const Tensor& self, const std::vector<int64_t>& padding) {
  static const Operator op = Operator::find("aten::replication_pad3d");
  return Call(op).tensor(self).integers(padding).one();
}

// replication_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor replication_pad3d_out(const Tensor& self, const std::vector<int64_t>& padding, const Tensor& out) {
  static const Operator op = Operator::find("aten::replication_pad3d", "out");
  return Call(op).tensor(self).integers(padding).tensor(out).one();
}

// rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor
inline Tensor rms_norm(const Tensor& input, const std::vector<int64_t>& normalized_shape,
    const Tensor& weight = Tensor(), const std::optional<double>& eps = {}) {
  static const Operator op = Operator::find("aten::rms_norm");
  return Call(op).tensor(input).integers(normalized_shape).tensor(weight).option(eps, &Call::real).one();
}

// rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator?
//     generator=None) -> Tensor
inline Tensor rrelu(const Tensor& self, const std::optional<Scalar>& lower = {},
    const std::optional<Scalar>& upper = {}, const std::optional<bool>& training = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::rrelu");
  return Call(op).tensor(self).option(lower, &Call::scalar).option(upper, &Call::scalar)
      .option(training, &Call::flag).generator(generator).one();
}

// rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator?
//     generator=None) -> Tensor(a!)
inline Tensor rrelu_(const Tensor& self, const std::optional<Scalar>& lower = {},
    const std::optional<Scalar>& upper = {}, const std::optional<bool>& training = {},
    const Generator& generator = Generator()) {
  static const Operator op = Operator::find("aten::rrelu_");
  return Call(op).tensor(self).option(lower, &Call::scalar).option(upper, &Call::scalar)
      .option(training, &Call::flag).generator(generator).one();
}

// scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.,
//     bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask = Tensor(), const std::optional<double>& dropout_p = {},
    const std::optional<bool>& is_causal = {}, const std::optional<double>& scale = {},
    const std::optional<bool>& enable_gqa = {}) {
  static const Operator op = Operator::find("aten::scaled_dot_product_attention");
  return Call(op).tensor(query).tensor(key).tensor(value).tensor(attn_mask).option(dropout_p, &Call::real)
      .option(is_causal, &Call::flag).option(scale, &Call::real).option(enable_gqa, &Call::flag).one();
}

// selu(Tensor self) -> Tensor
inline Tensor selu(const Tensor& self) {
  static const Operator op = Operator::find("aten::selu");
  return Call(op).tensor(self).one();
}

// selu_(Tensor(a!) self) -> Tensor(a!)
inline Tensor selu_(const Tensor& self) {
  static const Operator op = Operator::find("aten::selu_");
  return Call(op).tensor(self).one();
}

// silu(Tensor self) -> Tensor
inline Tensor silu(const Tensor& self) {
  static const Operator op = Operator::find("aten::silu");
  return Call(op).tensor(self).one();
}

// silu_(Tensor(a!) self) -> Tensor(a!)
inline Tensor silu_(const Tensor& self) {
  static const Operator op = Operator::find("aten::silu_");
  return Call(op).tensor(self).one();
}

// silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor silu_out(const Tensor& self, const Tensor& out) {
  static const Operator op = Operator::find("aten::silu", "out");
  return Call(op).tensor(self).tensor(out).one();
}

// smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor
inline Tensor smooth_l1_loss(const Tensor& self, const Tensor& target,
    const std::optional<int64_t>& reduction = {}, const std::optional<double>& beta = {}) {
  static const Operator op = Operator::find("aten::smooth_l1_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).option(beta, &Call::real).one();
}

// smooth_l1_loss.out(Tensor self, Tensor target, int reduction=1, float beta=1., *, Tensor(a!) out) -> Tensor(a!)
inline Tensor smooth_l1_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<int64_t>& reduction = {}, const std::optional<double>& beta = {}) {
  static const Operator op = Operator::find("aten::smooth_l1_loss", "out");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).option(beta, &Call::real)
      .tensor(out).one();
}

// soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
inline Tensor soft_margin_loss(const Tensor& self, const Tensor& target,
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::soft_margin_loss");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).one();
}

// soft_margin_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor soft_margin_loss_out(const Tensor& self, const Tensor& target, const Tensor& out,
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::soft_margin_loss", "out");
  return Call(op).tensor(self).tensor(target).option(reduction, &Call::integer).tensor(out).one();
}

// softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
inline Tensor softplus(const Tensor& self, const std::optional<Scalar>& beta = {},
    const std::optional<Scalar>& threshold = {}) {
  static const Operator op = Operator::find("aten::softplus");
  return Call(op).tensor(self).option(beta, &Call::scalar).option(threshold, &Call::scalar).one();
}

// softplus.out(Tensor self, Scalar beta=1, Scalar threshold=20, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor softplus_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& beta = {},
    const std::optional<Scalar>& threshold = {}) {
  static const Operator op = Operator::find("aten::softplus", "out");
  return Call(op).tensor(self).option(beta, &Call::scalar).option(threshold, &Call::scalar).tensor(out).one();
}

// softshrink(Tensor self, Scalar lambd=0.5) -> Tensor
inline Tensor softshrink(const Tensor& self, const std::optional<Scalar>& lambd = {}) {
  static const Operator op = Operator::find("aten::softshrink");
  return Call(op).tensor(self).option(lambd, &Call::scalar).one();
}

// softshrink.out(Tensor self, Scalar lambd=0.5, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor softshrink_out(const Tensor& self, const Tensor& out, const std::optional<Scalar>& lambd = {}) {
  static const Operator op = Operator::find("aten::softshrink", "out");
  return Call(op).tensor(self).option(lambd, &Call::scalar).tensor(out).one();
}

// threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor
inline Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static const Operator op = Operator::find("aten::threshold");
  return Call(op).tensor(self).scalar(threshold).scalar(value).one();
}

// threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)
inline Tensor threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static const Operator op = Operator::find("aten::threshold_");
  return Call(op).tensor(self).scalar(threshold).scalar(value).one();
}

// threshold.out(Tensor self, Scalar threshold, Scalar value, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor threshold_out(const Tensor& self, const Scalar& threshold, const Scalar& value, const Tensor& out) {
  static const Operator op = Operator::find("aten::threshold", "out");
  return Call(op).tensor(self).scalar(threshold).scalar(value).tensor(out).one();
}

// triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float
//     eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const std::optional<double>& margin = {}, const std::optional<double>& p = {},
    const std::optional<double>& eps = {}, const std::optional<bool>& swap = {},
    const std::optional<int64_t>& reduction = {}) {
  static const Operator op = Operator::find("aten::triplet_margin_loss");
  return Call(op).tensor(anchor).tensor(positive).tensor(negative).option(margin, &Call::real)
      .option(p, &Call::real).option(eps, &Call::real).option(swap, &Call::flag).option(reduction, &Call::integer)
      .one();
}

// upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
//     scales_w=None) -> Tensor
inline Tensor upsample_bicubic2d(const Tensor& self, const std::vector<int64_t>& output_size, bool align_corners,
    const std::optional<double>& scales_h = {}, const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_bicubic2d");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).one();
}

// upsample_bicubic2d.out(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
//     scales_w=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_bicubic2d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    bool align_corners, const Tensor& out, const std::optional<double>& scales_h = {},
    const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_bicubic2d", "out");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).tensor(out).one();
}

// upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) ->
//     Tensor
inline Tensor upsample_bicubic2d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    bool align_corners, const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_bicubic2d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).flag(align_corners)
      .nullable(scale_factors, &Call::reals).one();
}

// upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
//     scales_w=None) -> Tensor
inline Tensor upsample_bilinear2d(const Tensor& self, const std::vector<int64_t>& output_size, bool align_corners,
    const std::optional<double>& scales_h = {}, const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_bilinear2d");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).one();
}

// upsample_bilinear2d.out(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float?
//     scales_w=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_bilinear2d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    bool align_corners, const Tensor& out, const std::optional<double>& scales_h = {},
    const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_bilinear2d", "out");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).tensor(out).one();
}

// upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) ->
//     Tensor
inline Tensor upsample_bilinear2d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    bool align_corners, const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_bilinear2d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).flag(align_corners)
      .nullable(scale_factors, &Call::reals).one();
}

// upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor
inline Tensor upsample_linear1d(const Tensor& self, const std::vector<int64_t>& output_size, bool align_corners,
    const std::optional<double>& scales = {}) {
  static const Operator op = Operator::find("aten::upsample_linear1d");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales, &Call::real).one();
}

// upsample_linear1d.out(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None, *, Tensor(a!)
//     out) -> Tensor(a!)
inline Tensor upsample_linear1d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    bool align_corners, const Tensor& out, const std::optional<double>& scales = {}) {
  static const Operator op = Operator::find("aten::upsample_linear1d", "out");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales, &Call::real).tensor(out)
      .one();
}

// upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor
inline Tensor upsample_linear1d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    bool align_corners, const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_linear1d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).flag(align_corners)
      .nullable(scale_factors, &Call::reals).one();
}

// upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor
inline Tensor upsample_nearest1d(const Tensor& self, const std::vector<int64_t>& output_size,
    const std::optional<double>& scales = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest1d");
  return Call(op).tensor(self).integers(output_size).option(scales, &Call::real).one();
}

// upsample_nearest1d.out(Tensor self, SymInt[1] output_size, float? scales=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_nearest1d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    const Tensor& out, const std::optional<double>& scales = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest1d", "out");
  return Call(op).tensor(self).integers(output_size).option(scales, &Call::real).tensor(out).one();
}

// upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor
inline Tensor upsample_nearest1d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_nearest1d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).nullable(scale_factors, &Call::reals).one();
}

// upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor
inline Tensor upsample_nearest2d(const Tensor& self, const std::vector<int64_t>& output_size,
    const std::optional<double>& scales_h = {}, const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest2d");
  return Call(op).tensor(self).integers(output_size).option(scales_h, &Call::real).option(scales_w, &Call::real)
      .one();
}

// upsample_nearest2d.out(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None, *,
//     Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_nearest2d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    const Tensor& out, const std::optional<double>& scales_h = {}, const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest2d", "out");
  return Call(op).tensor(self).integers(output_size).option(scales_h, &Call::real).option(scales_w, &Call::real)
      .tensor(out).one();
}

// upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor
inline Tensor upsample_nearest2d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_nearest2d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).nullable(scale_factors, &Call::reals).one();
}

// upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float?
//     scales_w=None) -> Tensor
inline Tensor upsample_nearest3d(const Tensor& self, const std::vector<int64_t>& output_size,
    const std::optional<double>& scales_d = {}, const std::optional<double>& scales_h = {},
    const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest3d");
  return Call(op).tensor(self).integers(output_size).option(scales_d, &Call::real).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).one();
}

// upsample_nearest3d.out(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float?
//     scales_w=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_nearest3d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    const Tensor& out, const std::optional<double>& scales_d = {}, const std::optional<double>& scales_h = {},
    const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_nearest3d", "out");
  return Call(op).tensor(self).integers(output_size).option(scales_d, &Call::real).option(scales_h, &Call::real)
      .option(scales_w, &Call::real).tensor(out).one();
}

// upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor
inline Tensor upsample_nearest3d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_nearest3d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).nullable(scale_factors, &Call::reals).one();
}

// upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float?
//     scales_h=None, float? scales_w=None) -> Tensor
inline Tensor upsample_trilinear3d(const Tensor& self, const std::vector<int64_t>& output_size, bool align_corners,
    const std::optional<double>& scales_d = {}, const std::optional<double>& scales_h = {},
    const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_trilinear3d");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_d, &Call::real)
      .option(scales_h, &Call::real).option(scales_w, &Call::real).one();
}

// upsample_trilinear3d.out(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float?
//     scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)
inline Tensor upsample_trilinear3d_out(const Tensor& self, const std::vector<int64_t>& output_size,
    bool align_corners, const Tensor& out, const std::optional<double>& scales_d = {},
    const std::optional<double>& scales_h = {}, const std::optional<double>& scales_w = {}) {
  static const Operator op = Operator::find("aten::upsample_trilinear3d", "out");
  return Call(op).tensor(self).integers(output_size).flag(align_corners).option(scales_d, &Call::real)
      .option(scales_h, &Call::real).option(scales_w, &Call::real).tensor(out).one();
}

// upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) ->
//     Tensor
inline Tensor upsample_trilinear3d_vec(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size,
    bool align_corners, const std::optional<std::vector<double>>& scale_factors) {
  static const Operator op = Operator::find("aten::upsample_trilinear3d", "vec");
  return Call(op).tensor(input).nullable(output_size, &Call::integers).flag(align_corners)
      .nullable(scale_factors, &Call::reals).one();
}

}  // namespace tandem::abi::ops::functional
