"""The Python peer of `jit`.

    python jit.py mul10-eager|mul10-script CALLS

Writes rank-0.json into the folder BENCH_OUT: microseconds for one call, and the first values that it gives.
"""
import itertools
import json
import os
import sys
import time

import torch

torch.set_num_threads(1)


def eager(x, y):
    for _ in range(10):
        x = x * y
    return x


case, calls = sys.argv[1], int(sys.argv[2])
function = {"mul10-eager": eager, "mul10-script": torch.jit.script(eager)}[case]
x = torch.arange(1024, dtype=torch.float32) / 1024
y = x + 0.5


def run(count):
    with torch.no_grad():
        for _ in itertools.repeat(None, count):
            function(x, y)


run(max(10, calls // 10))
start = time.perf_counter()
run(calls)
microseconds = (time.perf_counter() - start) * 1e6 / calls
with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
    json.dump({"us": microseconds, "values": function(x, y)[1:1024:64].tolist()}, file)
