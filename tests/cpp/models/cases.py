"""The networks that reference.py computes: what C++ makes them with, and their inputs."""

IMAGES = {"image": [2, 3, 64, 64]}
TINY_GPT2 = {"vocab_size": 37, "n_positions": 24, "n_embd": 24, "n_layer": 2, "n_head": 3, "resid_pdrop": 0.0,
             "embd_pdrop": 0.0, "attn_pdrop": 0.0}
TINY_LLAMA = {"vocab_size": 41, "hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2,
              "num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 64}
TEXT = {"ids": [2, 9]}
PADDED = {"ids": [3, 7], "padding": [0, 2, 5]}  # of each row, on the left

VISION = [
    ("resnet18", {"width": 8, "num_classes": 10}, IMAGES),
    ("resnet34", {"width": 4, "num_classes": 3, "zero_init_residual": True}, IMAGES),
    ("resnet50", {"width": 8, "groups": 2, "num_classes": 7}, IMAGES),
    ("vgg11", {"width": 4, "hidden": 16, "dropout": 0.0, "num_classes": 5}, IMAGES),
    ("vgg16_bn", {"width": 4, "hidden": 16, "dropout": 0.0, "num_classes": 5}, IMAGES),
    ("mobilenet_v3_small", {"width_mult": 0.25, "dropout": 0.0, "num_classes": 6}, IMAGES),
    ("mobilenet_v3_large", {"width_mult": 0.3, "dropout": 0.0, "reduced_tail": True, "dilated": True}, IMAGES),
    ("convnext_tiny", {"width": 8, "layer_scale": 0.5, "stochastic_depth_prob": 0.0, "num_classes": 9}, IMAGES),
    ("vit_b_16", {"image_size": 64, "num_layers": 2, "num_heads": 3, "hidden_dim": 24, "mlp_dim": 40, "num_classes": 10},
     IMAGES),
    ("vit_b_16", {"image_size": 64, "patch_size": 32, "num_layers": 1, "num_heads": 2, "hidden_dim": 16, "mlp_dim": 8,
                  "representation_size": 12}, IMAGES),
]
TEXTS = [
    ("gpt2", TINY_GPT2, TEXT),
    ("gpt2", {**TINY_GPT2, "n_inner": 20, "activation_function": "gelu", "tie_word_embeddings": False}, PADDED),
    ("llama", TINY_LLAMA, TEXT),
    ("llama", {**TINY_LLAMA, "num_key_value_heads": 6, "head_dim": 8, "attention_bias": True, "mlp_bias": True,
               "tie_word_embeddings": True, "rms_norm_eps": 0.001, "rope_theta": 500.0}, PADDED),
    ("llama", {**TINY_LLAMA, "rope_type": "llama3", "rope_factor": 8.0, "rope_low_freq_factor": 1.0,
               "rope_high_freq_factor": 4.0, "rope_original_max_position_embeddings": 16}, TEXT),
    ("llama", {**TINY_LLAMA, "rope_type": "linear", "rope_factor": 2.0}, TEXT),
]
FULL = ["convnext_base", "convnext_large", "convnext_small", "convnext_tiny", "gpt2", "mobilenet_v3_large",
        "mobilenet_v3_small", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "vgg11", "vgg11_bn", "vgg13",
        "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn", "vit_b_16"]
