"""What modules.json has cases of: options and arguments, from which both sides make the same."""


# What a forward is given. Element i of argument j follows from both.
def real(*shape):
    return {"real": list(shape)}


def fixed(*shape):
    """The same, without a gradient."""
    return {"fixed": list(shape)}


def positive(*shape):
    return {"positive": list(shape)}


def part(*shape):
    """Between 0 and 1."""
    return {"part": list(shape)}


def sign(*shape):
    """1 and -1, without a gradient."""
    return {"sign": list(shape)}


def whole(below, *shape):
    return {"whole": list(shape), "below": below}


def flags(*shape):
    """True for one in four, never the first."""
    return {"flags": list(shape)}


def causal(length):
    """A bool mask of what comes later."""
    return {"causal": length}


def pair(*parts):
    return {"tuple": list(parts)}


def numbers(*values):
    """An int64 tensor."""
    return {"numbers": list(values)}


def indices(of, shape):
    """The indices that pooling an input of that shape gives."""
    return {"indices": of, "shape": list(shape)}


def weight(*values):
    return {"tensor": list(values)}


LAYER = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0}


# type, options, arguments; "train" unless "eval" is asked for.
def case(type, options, *arguments, mode="train"):
    return {"type": type, "options": options, "arguments": list(arguments), "mode": mode}


def same(types, options, *arguments, mode="train"):
    return [case(type, options, *arguments, mode=mode) for type in types.split()]


CASES = [
    *same("ReLU ReLU6 SELU SiLU Mish Hardswish Hardsigmoid ELU CELU GELU Tanh Sigmoid LogSigmoid Softsign Tanhshrink "
          "Hardtanh LeakyReLU Softplus Softshrink Hardshrink PReLU Hardtanh Identity", {}, real(3, 4)),
    *same("ReLU SiLU Mish Hardswish", {"inplace": True}, fixed(3, 4), mode="eval"),
    case("ELU", {"alpha": 0.5}, real(3, 4)), case("CELU", {"alpha": 0.5}, real(3, 4)),
    case("GELU", {"approximate": "tanh"}, real(3, 4)), case("LeakyReLU", {"negative_slope": 0.2}, real(3, 4)),
    case("Softplus", {"beta": 2.0, "threshold": 1.0}, real(3, 4)), case("Softshrink", {"lambd": 0.3}, real(3, 4)),
    case("Hardshrink", {"lambd": 0.3}, real(3, 4)), case("Hardtanh", {"min_val": -0.5, "max_val": 0.7}, real(3, 4)),
    case("PReLU", {"num_parameters": 4, "init": 0.1}, real(3, 4)), case("Threshold", {"threshold": 0.1, "value": 2.0}, real(3, 4)),
    case("RReLU", {}, real(3, 4)), case("RReLU", {"lower": 0.1, "upper": 0.2}, real(3, 4), mode="eval"),
    case("GLU", {}, real(3, 4)), case("GLU", {"dim": 0}, real(4, 3)), case("Softmax2d", {}, real(2, 3, 2, 2)),
    *same("Softmax Softmin LogSoftmax", {"dim": 1}, real(3, 4)),

    case("Linear", {"in_features": 4, "out_features": 3}, real(2, 4)),
    case("Linear", {"in_features": 4, "out_features": 3, "bias": False}, real(2, 5, 4)),
    case("Bilinear", {"in1_features": 4, "in2_features": 3, "out_features": 2}, real(2, 4), real(2, 3)),
    case("Flatten", {}, real(2, 3, 4)), case("Flatten", {"start_dim": 0, "end_dim": 1}, real(2, 3, 4)),
    case("Unflatten", {"dim": 1, "unflattened_size": [2, 3]}, real(2, 6)),
    case("PixelShuffle", {"upscale_factor": 2}, real(1, 4, 2, 3)),
    case("PixelUnshuffle", {"downscale_factor": 2}, real(1, 1, 4, 6)),
    case("ChannelShuffle", {"groups": 2}, real(1, 4, 2, 2)),
    case("Fold", {"output_size": [4, 5], "kernel_size": [2, 2]}, real(1, 8, 12)),
    case("Fold", {"output_size": 4, "kernel_size": 2, "stride": 2, "padding": 1, "dilation": 1}, real(1, 4, 9)),
    case("Unfold", {"kernel_size": [2, 3]}, real(2, 2, 4, 5)),
    case("Unfold", {"kernel_size": 2, "dilation": 2, "padding": 1, "stride": 2}, real(1, 2, 5, 5)),

    case("Conv1d", {"in_channels": 2, "out_channels": 4, "kernel_size": 3, "stride": 2, "padding": 1, "groups": 2}, real(2, 2, 7)),
    case("Conv1d", {"in_channels": 2, "out_channels": 3, "kernel_size": 3, "padding": "same", "padding_mode": "circular"}, real(2, 2, 7)),
    case("Conv2d", {"in_channels": 2, "out_channels": 3, "kernel_size": [2, 3]}, real(1, 2, 4, 5)),
    case("Conv2d", {"in_channels": 2, "out_channels": 3, "kernel_size": 2, "padding": 1, "padding_mode": "reflect", "dilation": 2, "bias": False}, real(1, 2, 4, 5)),
    case("Conv2d", {"in_channels": 2, "out_channels": 3, "kernel_size": 2}, real(2, 4, 5)),
    case("Conv3d", {"in_channels": 1, "out_channels": 2, "kernel_size": 2, "padding": [0, 1, 0], "padding_mode": "replicate"}, real(1, 1, 3, 3, 3)),
    case("ConvTranspose1d", {"in_channels": 2, "out_channels": 3, "kernel_size": 3, "stride": 2, "padding": 1, "output_padding": 1}, real(1, 2, 4)),
    case("ConvTranspose2d", {"in_channels": 2, "out_channels": 2, "kernel_size": 3, "stride": 2}, real(1, 2, 3, 3)),
    case("ConvTranspose2d", {"in_channels": 2, "out_channels": 2, "kernel_size": 3, "stride": 2, "bias": False}, real(1, 2, 3, 3), [8, 8]),
    case("ConvTranspose3d", {"in_channels": 2, "out_channels": 2, "kernel_size": 2, "groups": 2, "dilation": 2}, real(1, 2, 2, 2, 2)),

    *[case("BatchNorm1d", {"num_features": 3, **more}, real(4, 3), mode=mode)
      for more in ({}, {"momentum": None}, {"affine": False, "eps": 0.01}, {"track_running_stats": False})
      for mode in ("train", "eval")],
    case("BatchNorm1d", {"num_features": 3}, real(2, 3, 4)), case("BatchNorm2d", {"num_features": 3}, real(2, 3, 2, 2)),
    case("BatchNorm3d", {"num_features": 3, "momentum": 0.3}, real(2, 3, 2, 2, 2)),
    case("InstanceNorm1d", {"num_features": 3}, real(2, 3, 4)), case("InstanceNorm1d", {"num_features": 3}, real(3, 4)),
    case("InstanceNorm2d", {"num_features": 3, "affine": True}, real(2, 3, 2, 2)),
    *[case("InstanceNorm3d", {"num_features": 3, "track_running_stats": True}, real(2, 3, 2, 2, 2), mode=mode) for mode in ("train", "eval")],
    case("LayerNorm", {"normalized_shape": [4]}, real(3, 4)), case("LayerNorm", {"normalized_shape": [3, 4], "eps": 0.1}, real(2, 3, 4)),
    case("LayerNorm", {"normalized_shape": [4], "bias": False}, real(3, 4)),
    case("LayerNorm", {"normalized_shape": [4], "elementwise_affine": False}, real(3, 4)),
    case("RMSNorm", {"normalized_shape": [4]}, real(3, 4)), case("RMSNorm", {"normalized_shape": [3, 4], "eps": 0.1}, real(2, 3, 4)),
    case("RMSNorm", {"normalized_shape": [4], "elementwise_affine": False}, real(3, 4)),
    case("GroupNorm", {"num_groups": 2, "num_channels": 4}, real(2, 4, 3)),
    case("GroupNorm", {"num_groups": 2, "num_channels": 4, "affine": False, "eps": 0.1}, real(2, 4)),
    case("LocalResponseNorm", {"size": 3}, real(2, 4, 3)), case("LocalResponseNorm", {"size": 2, "alpha": 0.5, "beta": 0.5, "k": 2.0}, real(2, 4, 3, 2)),
    case("CrossMapLRN2d", {"size": 3}, real(1, 4, 2, 2)), case("CrossMapLRN2d", {"size": 3, "alpha": 0.5, "beta": 0.5, "k": 2}, real(1, 4, 2, 2)),

    case("Embedding", {"num_embeddings": 6, "embedding_dim": 3}, whole(6, 2, 4)),
    case("Embedding", {"num_embeddings": 6, "embedding_dim": 3, "padding_idx": 2, "scale_grad_by_freq": True}, whole(6, 2, 4)),
    case("Embedding", {"num_embeddings": 6, "embedding_dim": 3, "padding_idx": -1, "max_norm": 0.25, "norm_type": 1.0}, whole(6, 2, 4)),
    *[case("EmbeddingBag", {"num_embeddings": 6, "embedding_dim": 3, "mode": mode}, whole(6, 2, 4)) for mode in ("sum", "mean", "max")],
    case("EmbeddingBag", {"num_embeddings": 6, "embedding_dim": 3, "padding_idx": 1, "mode": "sum"}, whole(6, 8), numbers(0, 3), real(8)),
    case("EmbeddingBag", {"num_embeddings": 6, "embedding_dim": 3, "include_last_offset": True}, whole(6, 8), numbers(0, 3, 8)),

    *same("RNN LSTM GRU", {"input_size": 3, "hidden_size": 2}, real(4, 2, 3)),
    *same("RNN LSTM GRU", {"input_size": 3, "hidden_size": 2, "num_layers": 2, "bidirectional": True, "batch_first": True, "dropout": 0.5}, real(2, 4, 3)),
    *same("RNN LSTM GRU", {"input_size": 3, "hidden_size": 2, "bias": False}, real(4, 3)),
    *same("RNN GRU", {"input_size": 3, "hidden_size": 2}, real(4, 2, 3), real(1, 2, 2)),
    *same("RNN GRU", {"input_size": 3, "hidden_size": 2, "batch_first": True}, real(4, 3), real(1, 2)),
    case("LSTM", {"input_size": 3, "hidden_size": 2, "proj_size": 1}, real(4, 2, 3), pair(real(1, 2, 1), real(1, 2, 2))),
    case("LSTM", {"input_size": 3, "hidden_size": 2}, real(4, 3), pair(real(1, 2), real(1, 2))),
    case("RNN", {"input_size": 3, "hidden_size": 2, "nonlinearity": "relu"}, real(4, 2, 3)),
    *same("RNNCell LSTMCell GRUCell", {"input_size": 3, "hidden_size": 2}, real(2, 3)),
    *same("RNNCell GRUCell", {"input_size": 3, "hidden_size": 2, "bias": False}, real(2, 3), real(2, 2)),
    *same("RNNCell GRUCell", {"input_size": 3, "hidden_size": 2}, real(3), real(2)),
    case("LSTMCell", {"input_size": 3, "hidden_size": 2}, real(2, 3), pair(real(2, 2), real(2, 2))),
    case("LSTMCell", {"input_size": 3, "hidden_size": 2}, real(3), pair(real(2), real(2))),
    case("RNNCell", {"input_size": 3, "hidden_size": 2, "nonlinearity": "relu"}, real(2, 3)),

    *[case(f"{kind}{d}d", {"kernel_size": 2, **more}, real(1, 2, *[5] * d)) for d in (1, 2, 3)
      for kind, more in (("MaxPool", {}), ("MaxPool", {"stride": 1, "padding": 1, "dilation": 2, "ceil_mode": True}),
                         ("MaxPool", {"return_indices": True}), ("AvgPool", {}),
                         ("AvgPool", {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False}),
                         ("LPPool", {"norm_type": 2.0}), ("LPPool", {"norm_type": 3.0, "stride": 1, "ceil_mode": True}))
      if not (kind == "LPPool" and more["norm_type"] == 3.0)],
    *[case(f"LPPool{d}d", {"kernel_size": 2, "norm_type": 3.0, "stride": 1, "ceil_mode": True}, positive(1, 2, *[5] * d)) for d in (1, 2, 3)],
    *same("AvgPool2d AvgPool3d", {"kernel_size": 2, "divisor_override": 3}, real(1, 4, 4, 4)),
    *[case(f"Adaptive{kind}Pool{d}d", {"output_size": size}, real(1, 2, *[5] * d))
      for kind in ("Avg", "Max") for d in (1, 2, 3) for size in (2, [3, 2, 4][:d])],
    *[case(f"AdaptiveMaxPool{d}d", {"output_size": 2, "return_indices": True}, real(1, 2, *[5] * d)) for d in (1, 2, 3)],
    *[case(f"FractionalMaxPool{d}d", {"kernel_size": 2, **size}, real(1, 2, *[6] * d))
      for d in (2, 3) for size in ({"output_size": 3}, {"output_ratio": 0.5}, {"output_size": 3, "return_indices": True})],
    *[case(f"MaxUnpool{d}d", {"kernel_size": 2}, real(1, 2, *[2] * d), indices(f"MaxPool{d}d", (1, 2, *[size] * d)), *more)
      for d in (1, 2, 3) for size, more in ((4, ()), (5, ([5] * d,)))],

    *[case(f"{kind}{d}d", {"padding": p, **({"value": 0.5} if kind == "ConstantPad" else {})}, real(1, 2, *[4] * d))
      for kind in ("ReflectionPad", "ReplicationPad", "ZeroPad", "ConstantPad", "CircularPad")
      for d in (1, 2, 3) for p in (1, [2, 1, 0, 3, 1, 2][:2 * d])],

    *same("Dropout AlphaDropout FeatureAlphaDropout", {"p": 0.3}, real(4, 5)),
    *same("Dropout AlphaDropout FeatureAlphaDropout Dropout1d", {"p": 0.3}, real(4, 5), mode="eval"),
    case("Dropout1d", {}, real(4, 5)), case("Dropout1d", {"p": 0.3}, real(4, 3, 5)),
    case("Dropout2d", {}, real(4, 3, 2, 2)), case("Dropout3d", {}, real(4, 3, 2, 2, 2)),

    case("Upsample", {"scale_factor": 2.0}, real(1, 2, 3)), case("Upsample", {"size": [4, 5]}, real(1, 2, 3, 3)),
    case("Upsample", {"size": 5, "mode": "linear"}, real(1, 2, 3)),
    case("Upsample", {"scale_factor": [1.5, 2.0], "mode": "bilinear", "align_corners": True}, real(1, 2, 3, 3)),
    case("Upsample", {"scale_factor": 1.7, "mode": "bicubic", "align_corners": False, "recompute_scale_factor": True}, real(1, 2, 3, 3)),
    case("Upsample", {"scale_factor": 2.0, "mode": "trilinear"}, real(1, 1, 2, 2, 2)),
    case("Upsample", {"size": 5, "mode": "nearest-exact"}, real(1, 2, 3, 3)),
    case("UpsamplingNearest2d", {"scale_factor": 2.0}, real(1, 2, 3, 3)), case("UpsamplingBilinear2d", {"size": [4, 5]}, real(1, 2, 3, 3)),
    case("UpsamplingBilinear2d", {"scale_factor": 2.0}, real(1, 2, 3, 3)),

    case("CosineSimilarity", {}, real(3, 4), real(3, 4)), case("CosineSimilarity", {"dim": 0, "eps": 0.1}, real(3, 4), real(3, 4)),
    case("PairwiseDistance", {}, real(3, 4), real(3, 4)),
    case("PairwiseDistance", {"p": 1.0, "eps": 0.1, "keepdim": True}, real(3, 4), real(3, 4)),

    *[case(type, {"reduction": reduction}, real(3, 4), real(3, 4)) for reduction in ("mean", "sum", "none")
      for type in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")],
    case("SmoothL1Loss", {"beta": 0.3}, real(3, 4), real(3, 4)), case("SmoothL1Loss", {"beta": 0.0}, real(3, 4), real(3, 4)),
    case("HuberLoss", {"delta": 0.3}, real(3, 4), real(3, 4)),
    *[case("KLDivLoss", {"reduction": reduction}, real(3, 4), part(3, 4)) for reduction in ("mean", "batchmean", "sum", "none")],
    case("KLDivLoss", {"reduction": "sum", "log_target": True}, real(3, 4), real(3, 4)),
    case("CrossEntropyLoss", {}, real(4, 3), whole(3, 4)), case("CrossEntropyLoss", {"reduction": "none"}, real(4, 3), part(4, 3)),
    case("CrossEntropyLoss", {"weight": weight(0.5, 1.0, 2.0), "label_smoothing": 0.1, "ignore_index": 1}, real(2, 3, 4), whole(3, 2, 4)),
    case("NLLLoss", {}, real(4, 3), whole(3, 4)), case("NLLLoss", {"weight": weight(0.5, 1.0, 2.0), "ignore_index": 1, "reduction": "sum"}, real(2, 3, 4), whole(3, 2, 4)),
    case("BCELoss", {}, part(3, 4), part(3, 4)), case("BCELoss", {"weight": weight(0.5, 1.0, 2.0, 1.0), "reduction": "sum"}, part(3, 4), part(3, 4)),
    case("BCEWithLogitsLoss", {}, real(3, 4), part(3, 4)),
    case("BCEWithLogitsLoss", {"weight": weight(0.5, 1.0, 2.0, 1.0), "pos_weight": weight(1.0, 2.0, 3.0, 4.0), "reduction": "none"}, real(3, 4), part(3, 4)),
    *same("SoftMarginLoss HingeEmbeddingLoss", {}, real(3, 4), sign(3, 4)),
    case("HingeEmbeddingLoss", {"margin": 0.5, "reduction": "sum"}, real(3, 4), sign(3, 4)),
    case("MultiLabelMarginLoss", {}, real(2, 4), numbers([3, 0, -1, 1], [1, -1, 2, 0])),
    case("MultiLabelSoftMarginLoss", {}, real(2, 4), part(2, 4)),
    case("MultiLabelSoftMarginLoss", {"weight": weight(0.5, 1.0, 2.0, 1.0), "reduction": "none"}, real(2, 4), part(2, 4)),
    case("MultiMarginLoss", {}, real(4, 3), whole(3, 4)),
    case("MultiMarginLoss", {"p": 2, "margin": 0.5, "weight": weight(0.5, 1.0, 2.0), "reduction": "sum"}, real(4, 3), whole(3, 4)),
    case("PoissonNLLLoss", {}, real(3, 4), positive(3, 4)),
    case("PoissonNLLLoss", {"log_input": False, "full": True, "eps": 0.1, "reduction": "sum"}, positive(3, 4), positive(3, 4)),
    case("CosineEmbeddingLoss", {"margin": 0.2}, real(3, 4), real(3, 4), sign(3)),
    case("MarginRankingLoss", {"margin": 0.2, "reduction": "sum"}, real(3), real(3), sign(3)),
    case("TripletMarginLoss", {}, real(3, 4), real(3, 4), real(3, 4)),
    case("TripletMarginLoss", {"margin": 2.0, "p": 1.0, "swap": True, "reduction": "none"}, real(3, 4), real(3, 4), real(3, 4)),
    case("TripletMarginWithDistanceLoss", {}, real(3, 4), real(3, 4), real(3, 4)),
    case("TripletMarginWithDistanceLoss", {"margin": 2.0, "swap": True, "reduction": "sum"}, real(3, 4), real(3, 4), real(3, 4)),
    *[case("GaussianNLLLoss", more, real(3, 4), real(3, 4), positive(*shape))
      for more in ({}, {"full": True, "eps": 0.5, "reduction": "none"}) for shape in ((3, 4), (3,), (3, 1))],
    case("CTCLoss", {}, real(5, 2, 4), numbers([1, 2, 1], [3, 1, 2]), numbers(5, 4), numbers(3, 2)),
    case("CTCLoss", {"blank": 3, "zero_infinity": True, "reduction": "sum"}, real(5, 2, 4), numbers([1, 2, 1], [0, 1, 2]), numbers(5, 2), numbers(3, 3)),
    case("AdaptiveLogSoftmaxWithLoss", {"in_features": 4, "n_classes": 7, "cutoffs": [2, 4], "div_value": 2.0}, real(5, 4), whole(7, 5)),
    case("AdaptiveLogSoftmaxWithLoss", {"in_features": 4, "n_classes": 7, "cutoffs": [3], "head_bias": True}, real(5, 4), whole(7, 5)),

    *[case("MultiheadAttention", {"embed_dim": 4, "num_heads": 2, **more}, *arguments) for more, arguments in (
        ({}, [real(3, 2, 4), real(5, 2, 4), real(5, 2, 4)]),
        ({"batch_first": True}, [real(2, 3, 4), real(2, 5, 4), real(2, 5, 4), flags(2, 5)]),
        ({"batch_first": True, "bias": False}, [real(2, 3, 4), real(2, 5, 4), real(2, 5, 4), None, False, flags(3, 5)]),
        ({"add_bias_kv": True, "add_zero_attn": True}, [real(3, 2, 4), real(5, 2, 4), real(5, 2, 4), flags(2, 5), True, real(3, 5), False]),
        ({"add_bias_kv": True, "batch_first": True}, [real(2, 3, 4), real(2, 3, 4), real(2, 3, 4), None, False, real(4, 3, 3)]),
        ({"kdim": 3, "vdim": 5}, [real(3, 2, 4), real(5, 2, 3), real(5, 2, 5), None, False]),
        ({}, [real(3, 4), real(5, 4), real(5, 4), flags(5), True, real(2, 3, 5)]),
        ({"batch_first": True}, [real(3, 4), real(5, 4), real(5, 4), None, False]),
        ({}, [real(3, 2, 4), real(3, 2, 4), real(3, 2, 4), None, False, causal(3), True, True]),
        ({}, [real(3, 2, 4), real(3, 2, 4), real(3, 2, 4), fixed(2, 3), True, causal(3), True, True]),
        ({"add_bias_kv": True, "add_zero_attn": True}, [real(3, 2, 4), real(3, 2, 4), real(3, 2, 4), None, False, causal(3), True, True]),
        ({"add_bias_kv": True, "add_zero_attn": True}, [real(3, 2, 4), real(3, 2, 4), real(3, 2, 4), None, True, causal(3), True, True]))],
    case("MultiheadAttention", {"embed_dim": 4, "num_heads": 2, "dropout": 0.5}, real(3, 2, 4), real(5, 2, 4), real(5, 2, 4)),
    case("MultiheadAttention", {"embed_dim": 4, "num_heads": 2, "dropout": 0.5}, real(3, 2, 4), real(5, 2, 4), real(5, 2, 4), mode="eval"),
    *[case("TransformerEncoderLayer", {**LAYER, **more}, *arguments, mode=mode) for mode in ("train", "eval") for more, arguments in (
        ({}, [real(3, 2, 4)]), ({"batch_first": True, "norm_first": True, "activation": "gelu"}, [real(2, 3, 4), flags(3, 3), flags(2, 3)]),
        ({"bias": False, "layer_norm_eps": 0.1}, [real(3, 2, 4), causal(3), None, True]), ({}, [real(3, 4)]))],
    *[case("TransformerDecoderLayer", {**LAYER, **more}, *arguments) for more, arguments in (
        ({}, [real(3, 2, 4), real(5, 2, 4)]),
        ({"batch_first": True, "norm_first": True, "activation": "gelu"}, [real(2, 3, 4), real(2, 5, 4), causal(3), real(3, 5), flags(2, 3), flags(2, 5), True]),
        ({"bias": False}, [real(3, 4), real(5, 4)]))],
    case("TransformerEncoderLayer", {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.5}, real(3, 2, 4)),
    case("TransformerEncoder", {**LAYER, "num_layers": 2}, real(3, 2, 4), causal(3)),
    case("TransformerEncoder", {**LAYER, "num_layers": 2, "norm": True, "batch_first": True}, real(2, 3, 4), None, flags(2, 3)),
    case("TransformerDecoder", {**LAYER, "num_layers": 2, "norm": True}, real(3, 2, 4), real(5, 2, 4), causal(3)),
    case("Transformer", {**LAYER, "num_encoder_layers": 2, "num_decoder_layers": 1}, real(3, 2, 4), real(5, 2, 4)),
    case("Transformer", {**LAYER, "num_encoder_layers": 1, "num_decoder_layers": 2, "batch_first": True, "norm_first": True},
         real(2, 3, 4), real(2, 5, 4), None, causal(5), None, flags(2, 3), flags(2, 5), flags(2, 3), None, True),
]
