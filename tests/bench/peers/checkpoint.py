"""The peers' side of `checkpoint`: torch.save and torch.load of the same state, and torch.distributed.checkpoint's
asynchronous save.

    BENCH_OUT=FOLDER checkpoint.py save|load|async FOLDER MB
"""
import json
import os
import statistics
import sys
import tempfile
import time

import torch

TENSORS = 64


def state_of(size):
    torch.manual_seed(1)
    return {f"layers.{i}.weight": torch.rand(size // TENSORS // 4) for i in range(TENSORS)}


def seconds_of(body):
    begin = time.perf_counter()
    body()
    return time.perf_counter() - begin


def save(folder, size):
    state, path = state_of(size), os.path.join(folder, "state.pt")

    def run():  # on the disk, as ours is
        with open(path, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
    return {"s": seconds_of(run)}


def load(folder, _):
    state = {}
    return {"s": seconds_of(lambda: state.update(torch.load(os.path.join(folder, "state.pt"), weights_only=True)))}


def asynchronous(folder, size):
    import torch.distributed.checkpoint as dcp
    torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    state = {"model": state_of(size)}
    pauses = []
    for step in range(4):
        started = []
        with tempfile.TemporaryDirectory(dir=folder) as place:
            pauses.append(seconds_of(lambda: started.append(dcp.async_save(state, checkpoint_id=os.path.join(place, str(step))))))
            started[0].result()
    torch.distributed.destroy_process_group()
    return {"s": statistics.median(pauses[1:])}


def main(what, folder, megabytes):
    run = {"save": save, "load": load, "async": asynchronous}[what]
    with open(os.path.join(os.environ["BENCH_OUT"], "rank-0.json"), "w") as file:
        json.dump(run(folder, int(megabytes) * 1000000), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
