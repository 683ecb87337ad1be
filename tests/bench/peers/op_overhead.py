"""The Python peer of `op-overhead`.

    python op_overhead.py CASE ITERATIONS [--data FOLDER] [--save FILE]

Writes rank-0.json into the folder BENCH_OUT: microseconds for one iteration, and the values that iterations give.
"""
import argparse
import itertools
import json
import os
import time

import torch

import models
import tensor_file

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=("add-scope", "add-scope-grad", "add-noscope", "lstm-cell-loop"))
parser.add_argument("iterations", type=int)
parser.add_argument("--data", help="of lstm-cell-loop: folder that prepare.py wrote")
parser.add_argument("--save", help="of lstm-cell-loop: file for the parameters at the end")
args = parser.parse_args()
torch.set_num_threads(1)


def ramp(step, grad):
    """Element i of a 4x4 tensor is i * step, exact in every language."""
    return (torch.arange(16, dtype=torch.float32) * step).view(4, 4).requires_grad_(grad)


def adds(iterations):
    """Python frees each result where it is dropped, in all cases."""
    a, b = A, B
    for _ in itertools.repeat(None, iterations):
        a + b


def steps(iterations):
    for _ in itertools.repeat(None, iterations):
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


losses = []
if args.case == "lstm-cell-loop":
    model = models.MODELS["lstm-cell-loop"]()
    model.load_state_dict(tensor_file.load(os.path.join(args.data, "init.safetensors")))
    batch = tensor_file.load(os.path.join(args.data, "rank-0.safetensors"))
    inputs, targets = batch["inputs"], batch["targets"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    criterion = torch.nn.MSELoss()
    run = steps
else:
    grad = args.case == "add-scope-grad"
    A, B = ramp(0.25, grad), ramp(-2, grad)
    run = adds

run(args.iterations // 10)
start = time.perf_counter()
run(args.iterations)
microseconds = (time.perf_counter() - start) * 1e6 / args.iterations

values = losses or (A + B).flatten().tolist()
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"us": microseconds, "values": values}, file)
if args.save:
    tensor_file.save(args.save, model.state_dict())
