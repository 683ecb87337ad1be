"""The peer of `ddp-step`: trains a model on one fixed batch a rank under DistributedDataParallel, or without it.

    torchrun --nproc-per-node 2 ddp_step.py --model mlp --data FOLDER --exchange gloo|none --warmup 5 --steps 20
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn

import models
import tensor_file

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=models.MODELS, required=True)
parser.add_argument("--data", required=True, help="folder that prepare.py wrote")
parser.add_argument("--exchange", choices=("gloo", "nccl", "none"), required=True)
parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
parser.add_argument("--warmup", type=int, required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--save", help="rank 0 writes parameters and buffers at the end")
args = parser.parse_args()

rank = int(os.environ["RANK"])
torch.set_num_threads(1)
model = models.MODELS[args.model]()
model.load_state_dict(tensor_file.load(os.path.join(args.data, "init.safetensors")))
batch = tensor_file.load(os.path.join(args.data, f"rank-{rank}.safetensors"))
inputs, targets = batch["inputs"].to(args.device), batch["targets"].to(args.device)
model.to(args.device)
wrapped = model
if args.exchange != "none":
    dist.init_process_group(args.exchange)
    wrapped = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
criterion = nn.CrossEntropyLoss()


def step():
    optimizer.zero_grad()
    loss = criterion(wrapped(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


losses = [step() for _ in range(args.warmup)]
start = time.perf_counter()
losses += [step() for _ in range(args.steps)]
seconds = time.perf_counter() - start

with open("/proc/self/status") as status:
    resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
with open(os.path.join(os.environ["BENCH_OUT"], f"rank-{rank}.json"), "w") as file:
    json.dump({"step_ms": seconds * 1000 / max(args.steps, 1), "losses": losses, "rss_kb": resident}, file)
if args.save and rank == 0:
    tensor_file.save(args.save, {name: tensor.cpu() for name, tensor in model.state_dict().items()})
if args.exchange != "none":
    dist.destroy_process_group()
