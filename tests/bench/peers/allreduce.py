"""The Python peer of `allreduce`: how long an all-reduce of float32 over Gloo takes, by size.

    torchrun --nproc-per-node 2 allreduce.py --seconds 0.2 --sizes 1024,26214400

Writes rank-N.json into the folder BENCH_OUT.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, default=0.2, help="how long each size is timed; 0: only its result")
parser.add_argument("--sizes", required=True, help="in bytes, multiples of 4, comma-separated")
args = parser.parse_args()
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()


def check(count):
    """The sum of the result and some of its elements. Element i of rank r is (i + r) mod 11 + 1."""
    pattern = torch.tensor([(i + rank) % 11 + 1 for i in range(11)], dtype=torch.float32)
    t = pattern.repeat(count // 11 + 1)[:count].contiguous()
    dist.all_reduce(t)
    return [t.sum(dtype=torch.float64).item(), t[0].item(), t[count // 2].item(), t[count - 1].item()]


def loop(t, count):
    dist.barrier()
    start = time.perf_counter()
    for _ in range(count):
        dist.all_reduce(t)
    return (time.perf_counter() - start) / count


def measure(t):
    """The mean time of one all-reduce in microseconds."""
    probes = 2 if len(t) >= 1 << 20 else 20
    loop(t, probes)
    count = torch.tensor([args.seconds / loop(t, probes)], dtype=torch.float64)
    dist.all_reduce(count, dist.ReduceOp.MIN)  # as many on all ranks
    return loop(t, min(max(int(count.item()), 3), 50000)) * 1e6


values, microseconds = {}, {}
for size in args.sizes.split(","):
    values[size] = check(int(size) // 4)
    if args.seconds > 0:
        microseconds[size] = measure(torch.zeros(int(size) // 4))
with open(os.path.join(os.environ["BENCH_OUT"], f"rank-{rank}.json"), "w") as file:
    json.dump({"us": microseconds, "values": values}, file)
dist.destroy_process_group()
