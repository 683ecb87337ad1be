"""The peer of `rpc`: torch.distributed.rpc, calls from one worker to another.

    torchrun --nproc-per-node 2 remote_calls.py --seconds 0.5
"""
import argparse
import json
import os
import threading
import time

import torch
from torch.distributed import rpc

WARMUP = 20

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=float, required=True)
args = parser.parse_args()


def nothing():
    return None


def echo(tensor):
    return tensor


def last(tensor):
    return tensor[-1].item()


def time_calls(seconds, threads, call):
    """Microseconds from one call's end to the next one's, by so many threads."""
    for _ in range(WARMUP if seconds > 0 else 1):
        call()
    if seconds <= 0:
        return 0
    counts = [0] * threads
    begun = time.perf_counter()

    def run(index):
        while time.perf_counter() < begun + seconds:
            call()
            counts[index] += 1

    others = [threading.Thread(target=run, args=(index,)) for index in range(1, threads)]
    for other in others:
        other.start()
    run(0)
    for other in others:
        other.join()
    return (time.perf_counter() - begun) * 1e6 / sum(counts)


def measure(seconds):
    small, large = torch.arange(256, dtype=torch.float32), torch.ones(16 << 20)

    def call_echo():
        assert rpc.rpc_sync("worker1", echo, args=(small,)).equal(small)

    def call_last():
        assert rpc.rpc_sync("worker1", last, args=(large,)) == 1.0

    def call_nothing():
        rpc.rpc_sync("worker1", nothing)

    return {"empty-call": time_calls(seconds, 1, call_nothing), "1KB-tensor": time_calls(seconds, 1, call_echo),
            "64MB-tensor": time_calls(2 * seconds, 1, call_last), "calls-8": time_calls(seconds, 8, call_nothing),
            "tensor-calls-8": time_calls(seconds, 8, call_echo)}


rank = os.environ["RANK"]
torch.set_num_threads(1)
rpc.init_rpc(f"worker{rank}", rank=int(rank), world_size=int(os.environ["WORLD_SIZE"]))
with open(os.path.join(os.environ["BENCH_OUT"], f"rank-{rank}.json"), "w") as file:
    json.dump({"us": measure(args.seconds)} if rank == "0" else {}, file)
rpc.shutdown()
