"""Which operators users are offered, and why the others are left out."""
import re

from operators import schema

AUTOGRAD = re.compile(r"_backward($|_)|_jvp$|_forward$")
BACKEND = re.compile(r"^(cudnn|miopen|mkldnn|fbgemm|mps)_|to_mkldnn|is_vulkan_available")
QUANTIZED = re.compile(r"^(quantized_|quantize_per_|q_|choose_qparams|dequantize|empty_quantized|int_repr|qscheme|"
                       r"fused_moving_avg_obs|fake_quantize_per_.*_cachemask)")
NO_GO_TYPE = {"Storage", "Stream", "QScheme", "SymBool", "Dict", "Any"}

# Operators that users can call by name but have no use for, or that are bound otherwise.
NAMED = {
    "is the inner kernel of another operator": """
        batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
        batch_norm_update_stats conv_depthwise3d flatten_dense_tensors unflatten_dense_tensors native_batch_norm
        native_channel_shuffle native_dropout native_group_norm native_layer_norm native_norm nll_loss nll_loss2d
        slow_conv3d slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d thnn_conv2d
        unique_dim convolution constant_pad_nd embedding_renorm_ slice_inverse rrelu_with_noise rrelu_with_noise_
        sparse_resize_ sparse_resize_and_clear_ resize_as_sparse_ batch_norm_with_update""",
    "is for LibTorch's own compiler": """
        sym_constrain_range sym_constrain_range_for_size is_distributed fill lift resize resize_as bernoulli.Tensor""",
    "is bound by hand: Tensor.Size, Strides": "size stride",
    "is bound by hand: Tensor.Item, ItemInt, ToSlice": "item",
    "is bound by hand: Tensor.SetRequiresGrad": "requires_grad_",
    "is bound by hand: Tensor.SetGrad, Grad": "retain_grad",
    "makes nested tensors, or needs them": "to_padded_tensor",
}
NAMED = {name: why for why, names in NAMED.items() for name in names.split()}

# Names that torch.nn.functional and others have in Python, over operators of other names.
BEHIND = """cross_entropy_loss nll_loss_nd log_sigmoid pad one_hot smooth_l1_loss l1_loss
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d
    upsample_bicubic2d reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
    replication_pad3d im2col col2im max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d
    fractional_max_pool2d fractional_max_pool3d pad_sequence elu_ gelu_ glu hardsigmoid_ hardswish_ hardtanh_
    leaky_relu_ mish_ silu_ relu6_ slice mT mH multilabel_margin_loss multi_margin_loss soft_margin_loss
    affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d feature_dropout feature_dropout_""".split()


def offered_names():
    names = schema.python_names()
    offered = names["torch"] | names["Tensor"] | names["functional"] | set(BEHIND)
    for space in ("linalg", "fft", "special"):
        offered |= names[space]
    return offered, names["out"]


def takes_dimension_names(op):
    return op.name.startswith("align_") or "imname" in op.overload or any(
        a.type.startswith("str") and re.search(r"^(names|dims?|order|out_dim)$", a.name) for a in op.arguments)


def why_not(op, offered, out_variants):
    """None for an operator that users are offered, else a sentence's end: "OPERATOR …"."""
    base = re.sub(r"^linalg_", "", op.name)
    if op.name.startswith("__"):
        return "is an operator of Python's syntax (`&`, `<<` and so on); it has a name as well"
    if base.startswith("_"):
        return "is private: its name begins with an underscore"
    if takes_dimension_names(op):
        return "takes names of dimensions, which LibTorch gives up"
    if AUTOGRAD.search(op.name):
        return "is a kernel of autograd"
    if BACKEND.search(op.name):
        return "is a kernel of one backend, or a test for it; the operator without the prefix chooses it"
    if QUANTIZED.search(op.name):
        return "is about quantized tensors, which Tandem has no dtypes for"
    if op.name in NAMED or op.key in NAMED:
        return NAMED.get(op.name) or NAMED[op.key]
    if any(re.split(r"[\[?(]", v.type)[0] in NO_GO_TYPE or v.type.startswith("__torch__")
           for v in op.arguments + op.results):
        return "has an argument or a result of a type that no tag of tdm_value can say"
    if op.outputs and op.key not in out_variants:
        return "writes into a given tensor, which Python does not offer for it"
    if op.name not in offered:
        return "is called by no name of torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.fft or torch.special"
    return None


def select():
    """(operators that users are offered, [(operator, why not)])"""
    offered, out_variants = offered_names()
    chosen, left_out = [], []
    for op in schema.operators():
        why = why_not(op, offered, out_variants)
        if why:
            left_out.append((op, why))
        else:
            chosen.append(op)
    return chosen, left_out
