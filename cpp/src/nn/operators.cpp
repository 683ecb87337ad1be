// What Python composes for torch.nn, as operators of LibTorch's dispatcher in namespace "tandem": all languages call
// them, by name and by typed functions, as they call LibTorch's own. Names of torch.nn.init and torch.nn.utils have
// "init_" and "utils_" before them. capi/generator/operators/own.txt lists what is here.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "nn/packed_sequence.h"
#include "tandem/nn_functional.h"
#include "tandem/nn_init.h"
#include "tandem/nn_sequences.h"
#include "tandem/nn_utils.h"

namespace tandem::nn {

namespace {

void define_functional(torch::Library& m) {
  using namespace functional;
  m.def(
      "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? "
      "align_corners=None, bool recompute_scale_factor=False, bool antialias=False) -> Tensor",
      interpolate);
  m.def("normalize(Tensor input, float p=2., int[1] dim=1, float eps=1e-12) -> Tensor", normalize);
  m.def("unfold(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
        unfold);
  m.def(
      "fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] "
      "stride=1) -> Tensor",
      fold);
  m.def(
      "grid_sample(Tensor input, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool "
      "align_corners=False) -> Tensor",
      grid_sample);
  m.def("affine_grid(Tensor theta, int[] size, bool align_corners=False) -> Tensor", affine_grid);
  m.def("gumbel_softmax(Tensor logits, float tau=1., bool hard=False, int dim=-1) -> Tensor", gumbel_softmax);
  m.def("dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor", dropout1d);
  m.def("dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor", dropout2d);
  m.def("dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor", dropout3d);
  m.def(
      "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, int reduction=1) "
      "-> "
      "Tensor",
      gaussian_nll_loss);
  m.def("multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
        multilabel_soft_margin_loss);
  m.def("local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.) -> Tensor",
        local_response_norm);
  m.def(
      "lp_pool1d(Tensor input, float norm_type, int[1] kernel_size, int[1]? stride=None, bool ceil_mode=False) -> "
      "Tensor",
      lp_pool1d);
  m.def(
      "lp_pool2d(Tensor input, float norm_type, int[2] kernel_size, int[2]? stride=None, bool ceil_mode=False) -> "
      "Tensor",
      lp_pool2d);
  m.def(
      "lp_pool3d(Tensor input, float norm_type, int[3] kernel_size, int[3]? stride=None, bool ceil_mode=False) -> "
      "Tensor",
      lp_pool3d);
  m.def("softmin(Tensor input, int dim, ScalarType? dtype=None) -> Tensor", softmin);
  m.def("softsign(Tensor input) -> Tensor", softsign);
  m.def("tanhshrink(Tensor input) -> Tensor", tanhshrink);
  m.def(
      "multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, "
      "Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float "
      "dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, "
      "bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? "
      "q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? "
      "static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor)",
      multi_head_attention_forward);
}

void define_init(torch::Library& m) {
  m.def("init_calculate_gain(str nonlinearity, float? param=None) -> float", init::calculate_gain);
  m.def("init_uniform_(Tensor(a!) tensor, float a=0., float b=1., *, Generator? generator=None) -> Tensor(a!)",
        init::uniform_);
  m.def("init_normal_(Tensor(a!) tensor, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
        init::normal_);
  m.def(
      "init_trunc_normal_(Tensor(a!) tensor, float mean=0., float std=1., float a=-2., float b=2., *, Generator? "
      "generator=None) -> Tensor(a!)",
      init::trunc_normal_);
  m.def("init_constant_(Tensor(a!) tensor, float val) -> Tensor(a!)", init::constant_);
  m.def("init_ones_(Tensor(a!) tensor) -> Tensor(a!)", init::ones_);
  m.def("init_zeros_(Tensor(a!) tensor) -> Tensor(a!)", init::zeros_);
  m.def("init_eye_(Tensor(a!) tensor) -> Tensor(a!)", init::eye_);
  m.def("init_dirac_(Tensor(a!) tensor, int groups=1) -> Tensor(a!)", init::dirac_);
  m.def("init_xavier_uniform_(Tensor(a!) tensor, float gain=1., *, Generator? generator=None) -> Tensor(a!)",
        init::xavier_uniform_);
  m.def("init_xavier_normal_(Tensor(a!) tensor, float gain=1., *, Generator? generator=None) -> Tensor(a!)",
        init::xavier_normal_);
  m.def(
      "init_kaiming_uniform_(Tensor(a!) tensor, float a=0., str mode=\"fan_in\", str nonlinearity=\"leaky_relu\", *, "
      "Generator? generator=None) -> Tensor(a!)",
      init::kaiming_uniform_);
  m.def(
      "init_kaiming_normal_(Tensor(a!) tensor, float a=0., str mode=\"fan_in\", str nonlinearity=\"leaky_relu\", *, "
      "Generator? generator=None) -> Tensor(a!)",
      init::kaiming_normal_);
  m.def("init_orthogonal_(Tensor(a!) tensor, float gain=1., *, Generator? generator=None) -> Tensor(a!)",
        init::orthogonal_);
  m.def("init_sparse_(Tensor(a!) tensor, float sparsity, float std=0.01, *, Generator? generator=None) -> Tensor(a!)",
        init::sparse_);
}

void define_utils(torch::Library& m) {
  m.def("utils_get_total_norm(Tensor[] tensors, float norm_type=2., bool error_if_nonfinite=False) -> Tensor",
        utils::get_total_norm);
  m.def("utils_clip_grads_with_norm_(Tensor[] parameters, float max_norm, Tensor total_norm) -> ()",
        utils::clip_grads_with_norm_);
  m.def(
      "utils_clip_grad_norm_(Tensor[] parameters, float max_norm, float norm_type=2., bool error_if_nonfinite=False) "
      "-> "
      "Tensor",
      utils::clip_grad_norm_);
  m.def("utils_clip_grad_value_(Tensor[] parameters, float clip_value) -> ()", utils::clip_grad_value_);
  m.def("utils_parameters_to_vector(Tensor[] parameters) -> Tensor", utils::parameters_to_vector);
  m.def("utils_vector_to_parameters(Tensor vec, Tensor[] parameters) -> ()", utils::vector_to_parameters);
}

namespace sequences = torch::nn::utils::rnn;
using Packed = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using MaybeTensor = std::optional<at::Tensor>;

// Operators know a packed sequence as its four tensors; those of the order are undefined where it is the batch's.
Packed parts(const sequences::PackedSequence& packed) {
  return {packed.data(), packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()};
}

sequences::PackedSequence whole(const at::Tensor& data, const at::Tensor& batch_sizes,
                                const MaybeTensor& sorted_indices, const MaybeTensor& unsorted_indices) {
  return packed_sequence(data, batch_sizes, sorted_indices.value_or(at::Tensor()),
                         unsorted_indices.value_or(at::Tensor()));
}

Packed pack_padded_sequence(const at::Tensor& input, const at::Tensor& lengths, bool batch_first, bool enforce_sorted) {
  return parts(sequences::pack_padded_sequence(input, lengths, batch_first, enforce_sorted));
}

Packed pack_sequence(at::TensorList sequences, bool enforce_sorted) {
  return parts(sequences::pack_sequence(sequences, enforce_sorted));
}

std::tuple<at::Tensor, at::Tensor> pad_packed_sequence(const at::Tensor& data, const at::Tensor& batch_sizes,
                                                       const MaybeTensor& sorted_indices,
                                                       const MaybeTensor& unsorted_indices, bool batch_first,
                                                       double padding_value, std::optional<std::int64_t> total_length) {
  return sequences::pad_packed_sequence(whole(data, batch_sizes, sorted_indices, unsorted_indices), batch_first,
                                        padding_value, total_length);
}

std::vector<at::Tensor> unpack_sequence(const at::Tensor& data, const at::Tensor& batch_sizes,
                                        const MaybeTensor& sorted_indices, const MaybeTensor& unsorted_indices) {
  return utils::unpack_sequence(whole(data, batch_sizes, sorted_indices, unsorted_indices));
}

void define_sequences(torch::Library& m) {
  m.def(
      "utils_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first=False, bool enforce_sorted=True) -> "
      "(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)",
      pack_padded_sequence);
  m.def(
      "utils_pack_sequence(Tensor[] sequences, bool enforce_sorted=True) -> (Tensor data, Tensor batch_sizes, Tensor "
      "sorted_indices, Tensor unsorted_indices)",
      pack_sequence);
  m.def(
      "utils_pad_packed_sequence(Tensor data, Tensor batch_sizes, Tensor? sorted_indices, Tensor? unsorted_indices, "
      "bool batch_first=False, float padding_value=0., int? total_length=None) -> (Tensor padded, Tensor lengths)",
      pad_packed_sequence);
  m.def(
      "utils_unpack_sequence(Tensor data, Tensor batch_sizes, Tensor? sorted_indices, Tensor? unsorted_indices) -> "
      "Tensor[]",
      unpack_sequence);
  m.def("utils_unpad_sequence(Tensor padded_sequences, Tensor lengths, bool batch_first=False) -> Tensor[]",
        utils::unpad_sequence);
}

}  // namespace

TORCH_LIBRARY(tandem, m) {
  define_functional(m);
  define_init(m);
  define_utils(m);
  define_sequences(m);
}

// A trace has what they are composed of, which Python knows as well.
TORCH_LIBRARY_IMPL(tandem, Tracer, m) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.starts_with("tandem::")) m.impl(c10::toString(name).c_str(), torch::CppFunction::makeFallthrough());
  }
}

}  // namespace tandem::nn
