"""Writes functions.json as Python's torch.nn.functional, torch.nn.init and torch.nn.utils compute, for functions_test.cpp, and
parametrized.json as modules with packed sequences and parametrizations do, for recurrent_test.cpp and parametrizations_test.cpp.

    reference_functions.py make FOLDER     needs torch 2.11; FOLDER is this file's own

A line a case: an operator of namespace tandem, its arguments by name, and what Python gives: the results, for those that
overwrite also what they leave behind, for those that differentiate the gradients. Tensors are made of a formula, by both
sides with the same bits. Each case begins with torch.manual_seed(17).
"""
import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.nn.utils import rnn

from reference_parametrized import PARAMETRIZED, RECURRENT, parametrized, recurrent
from reference_values import B, L, T, described, loss, tensors_of, value

REDUCTIONS = ["none", "mean", "sum"]


def call(name, given):
    """What the operator is called in Python, with these arguments."""
    given = dict(given)
    if "reduction" in given:
        given["reduction"] = REDUCTIONS[given["reduction"]]
    for key, one in given.items():
        if isinstance(one, list) and len(one) == 1 and not isinstance(one[0], torch.Tensor):
            given[key] = one[0]
    if name.startswith("init_"):
        return getattr(torch.nn.init, name.removeprefix("init_"))(**given)
    if not name.startswith("utils_"):
        return getattr(F, name)(**given)
    name = name.removeprefix("utils_")
    if name in ("pad_packed_sequence", "unpack_sequence"):
        parts = [given.pop(part, None) for part in ("data", "batch_sizes", "sorted_indices", "unsorted_indices")]
        return getattr(rnn, name)(rnn.PackedSequence(*parts), **given)
    if name in ("pack_padded_sequence", "pack_sequence", "unpad_sequence"):
        made = getattr(rnn, name)(**given)
        return (made.data, made.batch_sizes, made.sorted_indices, made.unsorted_indices) if name[:4] == "pack" else made
    if name == "get_total_norm":
        return torch.nn.utils.get_total_norm(**given)
    return getattr(torch.nn.utils, name)(**given)


def case(name, given, tolerance):
    torch.manual_seed(17)
    values = {key: value(one) for key, one in given.items()}
    overwrites = name.endswith("_") or name == "utils_vector_to_parameters"
    differentiates = not overwrites and name != "utils_get_total_norm"
    leaves = [t for key in sorted(values) for t in tensors_of([values[key]])]  # in the order of JSON's reader
    if differentiates:
        for leaf in leaves:
            leaf.requires_grad_(leaf.is_floating_point())
    results = call(name, values)
    results = list(results) if isinstance(results, (list, tuple)) else [] if results is None else [results]
    line = {"op": name, "given": given, "results": [described(r, not tolerance) for r in results], "tolerance": tolerance}
    if overwrites:
        line["left"] = [described(t, not tolerance) for t in leaves]
        line["left_grads"] = [described(t.grad, not tolerance) for t in leaves]
    total = loss([r for r in results if isinstance(r, torch.Tensor)]) if differentiates else 0
    if isinstance(total, torch.Tensor):
        total.backward()
        line["grads"] = [described(t.grad, not tolerance) for t in leaves]
    return line


X1, X2, X3 = T(2, 3, 5), T(2, 2, 4, 5), T(1, 2, 3, 4, 3)
WEIGHTS, FILTERS = T(4, 6, dtype="float"), T(4, 3, 3, 2, dtype="float")


def interpolations():
    for x, names in ((X1, ["linear"]), (X2, ["bilinear", "bicubic"]), (X3, ["trilinear"])):
        spatial = len(x["sizes"]) - 2
        for mode in ["nearest", "nearest-exact", "area"] + names:
            yield {"input": x, "size": [5, 3, 4][:spatial], "mode": mode}
            yield {"input": x, "scale_factor": [1.7, 0.6, 2.3][:spatial], "mode": mode}
            yield {"input": x, "scale_factor": [1.4], "mode": mode, "recompute_scale_factor": True}
        for mode in names:
            yield {"input": x, "size": [5], "mode": mode, "align_corners": True}
    for mode in ("bilinear", "bicubic"):
        yield {"input": X2, "size": [2, 3], "mode": mode, "antialias": True}
        yield {"input": X2, "scale_factor": [0.5], "mode": mode, "antialias": True, "align_corners": True}


def grids():
    grid, volume = T(2, 3, 2, 2, start=4), T(1, 2, 3, 2, 3, start=4)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            yield {"input": X2, "grid": grid, "mode": mode, "padding_mode": padding, "align_corners": padding == "border"}
            if mode != "bicubic":
                yield {"input": X3, "grid": volume, "mode": mode, "padding_mode": padding}


def attention():
    query, source = T(3, 2, 4), T(5, 2, 4, start=2)
    base = {"embed_dim_to_check": 4, "num_heads": 2, "in_proj_weight": T(12, 4, start=1), "in_proj_bias": T(12, start=3),
            "bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0, "out_proj_weight": T(4, 4, start=5),
            "out_proj_bias": T(4, start=7)}
    crossed = {"query": query, "key": source, "value": T(5, 2, 4, start=6), **base}
    seen = {"key_padding_mask": B(2, 5, values=[0, 0, 1, 0, 1, 0, 1, 0, 0, 0])}
    some = {"attn_mask": B(3, 5, values=[0, 1, 0, 1, 0] * 3)}
    causal = {"attn_mask": B(3, 5, values=[0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1])}
    extra = {"bias_k": T(1, 1, 4, start=8), "bias_v": T(1, 1, 4, start=9), "add_zero_attn": True}
    for weights in (True, False):
        yield {**crossed, "need_weights": weights}
        yield {**crossed, **seen, "need_weights": weights}
        yield {**crossed, **some, "need_weights": weights}
        yield {**crossed, **some, **seen, **extra, "need_weights": weights}
        yield {**crossed, **causal, "is_causal": True, "need_weights": weights}
        yield {**crossed, **causal, **seen, "is_causal": True, "need_weights": weights}
        for more in ({"bias_k": extra["bias_k"], "bias_v": extra["bias_v"]}, {"add_zero_attn": True}, extra):
            yield {**crossed, **causal, **more, "is_causal": True, "need_weights": weights}
        yield {**crossed, **causal, **seen, **extra, "is_causal": True, "need_weights": weights}
        yield {**crossed, "attn_mask": T(4, 3, 5, start=3), "need_weights": weights}
        yield {**crossed, "dropout_p": 0.5, "need_weights": weights, "training": False}
        yield {**crossed, "static_k": T(4, 6, 2), "static_v": T(4, 6, 2, start=1), "need_weights": weights}
        yield {**crossed, "query": T(3, 4), "key": T(5, 4, start=2), "value": T(5, 4, start=6), "need_weights": weights,
               "key_padding_mask": B(5, values=[0, 0, 1, 0, 1])}
        yield {**crossed, "key": T(5, 2, 3), "value": T(5, 2, 6), "use_separate_proj_weight": True, "in_proj_weight": None,
               "q_proj_weight": T(4, 4), "k_proj_weight": T(4, 3), "v_proj_weight": T(4, 6), "need_weights": weights}
    yield {**crossed, "average_attn_weights": False}
    yield {**crossed, "in_proj_bias": None, "out_proj_bias": None}
    yield {**crossed, "dropout_p": 0.5}


def parameters(**more):
    return {"parameters": {"tensors": [T(2, 3, grad=1), T(4, start=2), T(3, start=3, grad=5, dtype="float")]}, **more}


PACKED = {"data": T(9, 2), "batch_sizes": L(3, 3, 2, 1)}
ORDER = {"sorted_indices": L(2, 0, 1), "unsorted_indices": L(1, 2, 0)}
SEVERAL = {"tensors": [T(2, 3), T(4, 3, start=1), T(1, 3, start=2)]}
FALLING = {"tensors": [T(4, 3), T(2, 3, start=1), T(2, 3, start=2)]}

CASES = [
    ("interpolate", interpolations(), 1e-11),
    ("normalize", [{"input": X2}, {"input": X1, "p": 1.0, "dim": [2]}, {"input": X2, "dim": [1, 3]},
                   {"input": X1, "p": 3.0, "eps": 2.5}], 1e-11),
    ("unfold", [{"input": X2, "kernel_size": [2]}, {"input": T(3, 4, 5), "kernel_size": [3, 2], "padding": [1, 2]},
                {"input": X2, "kernel_size": [2], "dilation": [2, 1], "stride": [1, 2]}], 1e-11),
    ("fold", [{"input": T(2, 8, 12), "output_size": [4, 5], "kernel_size": [2]},
              {"input": T(12, 4), "output_size": [4], "kernel_size": [3, 2], "padding": [1], "stride": [2, 3],
               "dilation": [1, 2]}], 1e-11),
    ("grid_sample", grids(), 1e-11),
    ("affine_grid", [{"theta": T(2, 2, 3), "size": [2, 3, 4, 5]}, {"theta": T(1, 3, 4), "size": [1, 2, 3, 4, 5]},
                     {"theta": T(2, 2, 3), "size": [2, 1, 2, 3], "align_corners": True}], 1e-11),
    ("gumbel_softmax", [{"logits": T(3, 5)}, {"logits": T(4, 5), "tau": 0.5, "dim": 0}, {"logits": T(4, 5), "hard": True}],
     1e-11),
    ("dropout1d", [{"input": X1}, {"input": T(6, 5), "p": 0.3}, {"input": X1, "training": False}], 0),
    ("dropout2d", [{"input": X2}, {"input": X1, "p": 0.3}, {"input": X2, "p": 1.0}], 0),
    ("dropout3d", [{"input": X3}, {"input": T(6, 2, 2, 3), "p": 0.3}, {"input": X3, "p": 0.0}], 0),
    ("gaussian_nll_loss", [{"input": T(3, 4), "target": T(3, 4, start=2), "var": T(*sizes, start=1, positive=True), **more}
                           for sizes in ([3, 4], [3, 1], [3], [1, 4])
                           for more in ({}, {"full": True, "reduction": 2}, {"eps": 1.0, "reduction": 0})], 1e-11),
    ("multilabel_soft_margin_loss", [{"input": T(3, 4), "target": T(3, 4, start=2, positive=True)},
                                     {"input": T(3, 4), "target": T(3, 4), "weight": T(4, start=1), "reduction": 0},
                                     {"input": T(4), "target": T(4, start=1), "reduction": 2}], 1e-11),
    ("local_response_norm", [{"input": T(2, 6, 3), "size": 3}, {"input": T(1, 5, 2, 3), "size": 2, "alpha": 0.5, "k": 2.0},
                             {"input": T(1, 4, 2, 2, 3), "size": 5, "beta": 0.5}], 1e-11),
    ("lp_pool1d", [{"input": X1, "norm_type": 2.0, "kernel_size": [2]},
                   {"input": X1, "norm_type": 4.0, "kernel_size": [2], "stride": [3], "ceil_mode": True}], 1e-11),
    ("lp_pool2d", [{"input": X2, "norm_type": 2.0, "kernel_size": [2]},
                   {"input": T(2, 4, 5, positive=True), "norm_type": 3.0, "kernel_size": [2, 3], "stride": [1, 2]}], 1e-11),
    ("lp_pool3d", [{"input": X3, "norm_type": 2.0, "kernel_size": [2, 2, 3]},
                   {"input": X3, "norm_type": 2.0, "kernel_size": [2, 3, 2], "stride": [1], "ceil_mode": True}], 1e-11),
    ("softmin", [{"input": X1, "dim": 1}], 1e-11),
    ("softsign", [{"input": X1}], 1e-11),
    ("tanhshrink", [{"input": X1}], 1e-11),
    ("multi_head_attention_forward", attention(), 1e-11),

    ("init_calculate_gain", [{"nonlinearity": name} for name in
                             "linear conv2d conv_transpose3d sigmoid tanh relu leaky_relu selu".split()] +
     [{"nonlinearity": "leaky_relu", "param": 0.2}], 1e-11),
    ("init_uniform_", [{"tensor": WEIGHTS}, {"tensor": WEIGHTS, "a": -0.5, "b": 0.25}, {"tensor": T(20)}], 0),
    ("init_normal_", [{"tensor": WEIGHTS}, {"tensor": T(3), "mean": 0.5, "std": 2.0}, {"tensor": T(20)}], 1e-6),
    ("init_trunc_normal_", [{"tensor": WEIGHTS}, {"tensor": T(20), "mean": 0.5, "std": 0.2, "a": 0.3, "b": 1.0}], 1e-6),
    ("init_constant_", [{"tensor": WEIGHTS, "val": 0.3}], 0),
    ("init_ones_", [{"tensor": WEIGHTS}], 0),
    ("init_zeros_", [{"tensor": WEIGHTS}], 0),
    ("init_eye_", [{"tensor": WEIGHTS}, {"tensor": T(5, 3)}], 0),
    ("init_dirac_", [{"tensor": T(4, 2, 3)}, {"tensor": FILTERS}, {"tensor": T(4, 3, 3, 4), "groups": 2},
                     {"tensor": T(6, 2, 3, 2, 3), "groups": 3}], 0),
    ("init_xavier_uniform_", [{"tensor": WEIGHTS}, {"tensor": FILTERS, "gain": 0.5}], 0),
    ("init_xavier_normal_", [{"tensor": WEIGHTS}, {"tensor": FILTERS, "gain": 0.5}], 1e-6),
    ("init_kaiming_uniform_", [{"tensor": WEIGHTS}, {"tensor": FILTERS, "mode": "fan_out", "nonlinearity": "relu"},
                               {"tensor": FILTERS, "a": 0.3}], 0),
    ("init_kaiming_normal_", [{"tensor": WEIGHTS}, {"tensor": FILTERS, "mode": "fan_out", "nonlinearity": "selu"},
                              {"tensor": FILTERS, "a": 0.3}], 1e-6),
    ("init_orthogonal_", [{"tensor": T(4, 6)}, {"tensor": T(5, 3), "gain": 2.0}, {"tensor": T(3, 2, 2)}], 1e-9),
    ("init_sparse_", [{"tensor": WEIGHTS, "sparsity": 0.3}, {"tensor": T(5, 3), "sparsity": 0.5, "std": 1.0}], 1e-6),

    ("utils_get_total_norm", [{"tensors": {"tensors": [T(2, 3), T(4, start=2), T(3, dtype="float")]}, **more}
                              for more in ({}, {"norm_type": 1.0}, {"norm_type": 3.0})] + [{"tensors": {"tensors": []}}], 1e-7),
    ("utils_clip_grad_norm_", [parameters(max_norm=0.5), parameters(max_norm=100.0),
                               parameters(max_norm=0.5, norm_type=1.0)], 1e-7),
    ("utils_clip_grads_with_norm_", [parameters(max_norm=0.5, total_norm=T(values=[3.0]))], 1e-7),
    ("utils_clip_grad_value_", [parameters(clip_value=0.4)], 1e-7),
    ("utils_parameters_to_vector", [{"parameters": {"tensors": [T(2, 3), T(4, start=2)]}}], 0),
    ("utils_vector_to_parameters", [{"vec": T(10, start=1), "parameters": {"tensors": [T(2, 3), T(4, start=2)]}}], 0),

    ("utils_pack_padded_sequence", [{"input": T(4, 3, 2), "lengths": L(4, 3, 2)},
                                    {"input": T(3, 4, 2), "lengths": L(2, 4, 3), "batch_first": True,
                                     "enforce_sorted": False}], 0),
    ("utils_pack_sequence", [{"sequences": FALLING}, {"sequences": SEVERAL, "enforce_sorted": False}], 0),
    ("utils_pad_packed_sequence", [{**PACKED, "sorted_indices": None, "unsorted_indices": None},
                                   {**PACKED, **ORDER, "batch_first": True, "padding_value": 2.5, "total_length": 6}], 0),
    ("utils_unpack_sequence", [{**PACKED, "sorted_indices": None, "unsorted_indices": None}, {**PACKED, **ORDER}], 0),
    ("utils_unpad_sequence", [{"padded_sequences": T(3, 4, 2), "lengths": L(2, 4, 0), "batch_first": True}], 0),
]


def listed(lines):
    return "[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]"


def main(folder):
    torch.set_num_threads(1)
    functions = [case(name, given, tolerance) for name, cases, tolerance in CASES for given in cases]
    pathlib.Path(folder, "functions.json").write_text(listed(functions) + "\n", encoding="utf-8")
    modules = {"parametrized": [parametrized(*one) for one in PARAMETRIZED], "recurrent": [recurrent(*one) for one in RECURRENT]}
    text = "{" + ", ".join(f'"{key}": {listed(lines)}' for key, lines in modules.items()) + "}\n"
    pathlib.Path(folder, "parametrized.json").write_text(text, encoding="utf-8")
    print(f"{len(functions)} functions, " + ", ".join(f"{len(lines)} {key}" for key, lines in modules.items()))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "make":
        sys.exit(__doc__)
    main(sys.argv[2])
