"""The Python peer of `exported`'s inference: calls the module of an archive, or with --compiled AOTInductor's package of it, on
the first rank's batch.

    python exported_infer.py FOLDER WARMUP CALLS [--compiled]

Writes rank-0.json into the folder BENCH_OUT: milliseconds for one call, and the first values that it gives.
"""
import json
import os
import sys
import time

import torch

import tensor_file

torch.set_num_threads(1)
folder, warmup, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if "--compiled" in sys.argv[4:]:
    model = torch._inductor.aoti_load_package(os.path.join(folder, "compiled.pt2"))
else:
    model = torch.export.load(os.path.join(folder, "eval.pt2")).module()
inputs = tensor_file.load(os.path.join(folder, "rank-0.safetensors"))["inputs"]


def run(count):
    with torch.inference_mode():
        for _ in range(count):
            model(inputs)


run(warmup)
start = time.perf_counter()
run(calls)
milliseconds = (time.perf_counter() - start) * 1000 / max(calls, 1)
with torch.inference_mode():
    values = model(inputs).flatten()[:16].tolist()
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"ms": milliseconds, "values": values}, file)
