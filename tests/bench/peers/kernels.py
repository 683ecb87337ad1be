"""What a training step of `train-step` spends in the kernels that both sides call alike: matrix products, convolutions,
recurrent layers and the fused optimizer. A step that did nothing else would take this long.

    RANK=0 kernels.py --model mlp --data FOLDER --exchange none --warmup 5 --steps 20
"""
import json
import os

import torch
from torch import profiler

import ddp_step as step_program  # measures its steps, without the profiler, as it is imported

KERNELS = ("addmm", "mm", "bmm", "baddbmm", "mkldnn_convolution", "convolution_backward", "_slow_conv2d_forward", "mkldnn_rnn_layer",
           "mkldnn_rnn_layer_backward", "_fused_sgd_", "_fused_adamw_", "_scaled_dot_product_flash_attention_for_cpu",
           "_scaled_dot_product_flash_attention_for_cpu_backward")

steps = step_program.args.steps
with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as profile:
    for _ in range(steps):
        step_program.step()
spent = {event.key.removeprefix("aten::"): event.self_cpu_time_total / 1000 / steps for event in profile.key_averages()}
kernels = {name: spent[name] for name in KERNELS if name in spent}
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"step_ms": step_program.seconds * 1000 / steps, "kernels_ms": sum(kernels.values()), "kernels": kernels}, file)
