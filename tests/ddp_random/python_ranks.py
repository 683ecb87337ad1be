"""Runs specifications under Python's DistributedDataParallel over Gloo, a forked process a rank.

run(specs) gives an outcome for each: {"tensors": [{name: values} of each rank]}, or {"errors": [text or null of each
rank]}. One rank's error counts for all: those that wait for it never come further.
"""
import contextlib
import datetime
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback
import warnings

import torch
import torch._dynamo.utils  # what DDP would import in each rank, for seconds
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from specification import BATCH, ROWS, WIDTH

TIMEOUT = datetime.timedelta(seconds=8)  # of a collective
PATIENCE = 60                            # seconds, for a whole specification


def number(shape, salt):
    """Values in [-0.5, 0.5) that both sides compute to the last bit."""
    count = 1
    for size in shape:
        count *= size
    return (((torch.arange(count) * 37 + salt * 101 + 11) % 97).double() / 97 - 0.5).view(shape)


class Layer(nn.Module):
    def __init__(self, spec, index, salt, shared):
        super().__init__()
        self.kind, self.when = spec["kind"], spec.get("when")
        make = getattr(self, "make_" + self.kind)
        make(spec, index * 7 + salt, shared)
        for parameter in self.parameters():
            if spec.get("frozen"):
                parameter.requires_grad_(False)

    def used(self, rank, step, forward):
        when = self.when or {}
        return all(when.get(key) is None or value in when[key]
                   for key, value in (("ranks", rank), ("steps", step), ("forwards", forward))) and \
            (when.get("parity") is None or (rank + step) % 2 == when["parity"])

    def make_linear(self, spec, salt, shared):
        self.weight = shared.weight if shared else nn.Parameter(number([WIDTH, WIDTH], salt))
        self.bias = None
        if spec["bias"]:
            self.bias = shared.bias if shared else nn.Parameter(number([WIDTH], salt + 1))

    def linear(self, h, _):
        h = h.matmul(self.weight.t())
        return torch.tanh(h if self.bias is None else h + self.bias)

    def make_scale(self, spec, salt, shared):
        self.weight = nn.Parameter(number([WIDTH], salt))

    def scale(self, h, _):
        return h * (1 + self.weight)

    def make_conv(self, spec, salt, shared):
        weight = number([2, 2, 1, 3], salt)
        if spec["channels_last"]:
            weight = weight.contiguous(memory_format=torch.channels_last)
        self.weight = nn.Parameter(weight)

    def conv(self, h, _):
        return h + nn.functional.conv2d(h.view(-1, 2, 1, 2), self.weight, padding=(0, 1)).reshape(-1, WIDTH)

    def make_single(self, spec, salt, shared):
        self.weight = nn.Parameter(number([WIDTH, WIDTH], salt).float())

    def single(self, h, _):
        return h + h.float().matmul(self.weight.t()).double()

    def make_complex(self, spec, salt, shared):
        self.weight = nn.Parameter(torch.complex(number([WIDTH], salt), number([WIDTH], salt + 1)))

    def complex(self, h, _):
        z = h * self.weight
        return h + torch.real(z) + torch.imag(z)

    def make_table(self, spec, salt, shared):
        self.table = nn.Embedding(ROWS, WIDTH, sparse=spec["sparse"], dtype=torch.double)
        self.table.weight = nn.Parameter(number([ROWS, WIDTH], salt))

    def table_(self, h, place):
        # Times 2: a sparse gradient must not share memory with that of h, which the reducer would divide as well.
        return h + 2 * self.table((torch.arange(h.size(0)) * 3 + place) % ROWS)

    def make_bag(self, spec, salt, shared):
        self.bag = nn.EmbeddingBag(ROWS, WIDTH, sparse=spec["sparse"], mode="sum", dtype=torch.double)
        self.bag.weight = nn.Parameter(number([ROWS, WIDTH], salt))

    def bag_(self, h, place):
        return h + 2 * self.bag(((torch.arange(h.size(0) * 2) * 3 + place) % ROWS).view(-1, 2))

    def make_gives(self, spec, salt, shared):
        self.weight = nn.Parameter(number(spec.get("shape", [WIDTH]), salt))

    def make_mean(self, spec, salt, shared):
        self.register_buffer("mean", number([WIDTH], salt))

    def mean_(self, h, _):
        if self.training:
            self.mean.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        return h - self.mean

    def make_count(self, spec, salt, shared):
        self.register_buffer("count", torch.tensor([salt]))

    def count_(self, h, place):
        if self.training:
            self.count.add_(1 + place)
        return h + 0.01 * self.count

    def forward(self, h, place):
        return getattr(self, self.kind + ("_" if self.kind in ("table", "bag", "mean", "count") else ""))(h, place)


class Model(nn.Module):
    def __init__(self, spec, rank):
        super().__init__()
        self.outputs, self.rank = spec["outputs"], rank
        self.layers = []
        for i, layer in enumerate(spec["layers"]):
            shared = self.layers[layer["shares"]] if "shares" in layer else None
            self.layers.append(Layer(layer, i, rank * 13 if spec["initial_by_rank"] else 0, shared))
            self.add_module(f"layer{i}", self.layers[-1])

    def forward(self, h, step, forward):
        outputs = []
        place = self.rank * 2 + step + forward
        for i, layer in enumerate(self.layers):
            if layer.used(self.rank, step, forward):
                if layer.kind == "gives":
                    outputs.append(layer.weight)
                    continue
                h = layer(h, place)
            if i in self.outputs:
                outputs.append(h)
        outputs.append(h)
        return outputs


def made_different(spec, rank):
    """The specification as it is on this rank."""
    different = spec["differs"]
    if different and different["rank"] == rank:
        spec = json.loads(json.dumps(spec))
        last = spec["layers"][-1]
        if different["what"] == "shape":
            last["shape"] = [WIDTH + 1]
        elif different["what"] == "strides":
            last["channels_last"] = True
        else:
            spec["layers"].append({"kind": "scale"})
    return spec


class Rank:
    def __init__(self, spec, rank):
        spec = made_different(spec, rank)
        self.spec, self.rank = spec, rank
        self.phase = "construct"
        self.model = Model(spec, rank)
        if spec["ignores"]:
            DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(self.model, spec["ignores"])
        self.ddp = DistributedDataParallel(self.model, **spec["options"])
        if spec["hook"] != "none":
            hook = default_hooks.allreduce_hook if spec["hook"] == "allreduce" else default_hooks.fp16_compress_hook
            self.ddp.register_comm_hook(None, hook)

    def forward(self, step, forward, micro=0):
        self.phase = f"step {step}, forward {forward}"
        x = number([BATCH, WIDTH], 1000 + self.rank * 31 + step * 17 + forward * 5 + micro * 3)
        outputs = self.ddp(x, step, forward)
        used = outputs if self.spec["loss_uses"] == "all" else outputs[-1:]
        return sum(output.pow(2).mean() for output in used)

    def backward(self, loss, step):
        if self.spec["penalty"] is not None:
            loss = loss + self.model.layers[self.spec["penalty"]].weight.pow(2).sum()
        self.phase = f"step {step}, backward"
        loss.backward()

    def events(self, step):
        for event in self.spec["events"]:
            if event["step"] == step:
                self.model.layers[event["layer"]].requires_grad_(event["requires_grad"])

    def zero_grad(self):
        if self.spec["zero_grad"] != "never":
            self.ddp.zero_grad(set_to_none=self.spec["zero_grad"] == "none")

    def step(self, step, plan):
        self.events(step)
        self.zero_grad()
        if plan["before"] == "evaluate":
            self.ddp.eval()
            with torch.no_grad():
                self.forward(step, 0)
            self.ddp.train()
        elif plan["before"] == "idle":
            self.forward(step, 0)
        for micro in range(plan["accumulate"]):
            with self.ddp.no_sync():
                self.backward(self.forward(step, 0, micro + 1), step)
        self.backward(sum(self.forward(step, forward) for forward in range(plan["forwards"])), step)
        with torch.no_grad():
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.add_(parameter.grad, alpha=-self.spec["rate"])

    def train(self):
        steps = list(enumerate(self.spec["program"]))
        join = self.spec["join"]
        if not join:
            context = contextlib.nullcontext()
        else:
            steps = steps[:join["batches"][self.rank]]
            context = self.ddp.join(divide_by_initial_world_size=join["divide_by_initial_world_size"],
                                    throw_on_early_termination=join["throw_on_early_termination"])
        with context:
            for i, plan in steps:
                self.step(i, plan)
            self.phase = "the end of join"
        self.forward(self.spec["steps"], 0)  # tells whether the last backward was whole
        self.phase = "the end"
        dist.barrier()

    def tensors(self):
        found = list(self.model.named_parameters()) + list(self.model.named_buffers())
        return {name: (torch.view_as_real(t) if t.is_complex() else t).detach().flatten().tolist() for name, t in found}


def run_rank(spec, rank, folder):
    """In the rank's own process: leaves the outcome as a file."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    outcome, phase = {}, "the process group"
    this = None
    try:
        store = dist.FileStore(str(folder / "store"), spec["ranks"])
        dist.init_process_group("gloo", store=store, rank=rank, world_size=spec["ranks"], timeout=TIMEOUT)
        this = Rank.__new__(Rank)
        this.__init__(spec, rank)
        this.train()
        outcome["tensors"] = this.tensors()
    except Exception as error:  # whatever Python's DDP, autograd or Gloo raise
        phase = getattr(this, "phase", phase)
        outcome["error"] = f"{phase}: {error}"
        if os.environ.get("DDP_RANDOM_TRACE"):
            traceback.print_exc()
    (folder / f"{rank}.part").write_text(json.dumps(outcome))
    (folder / f"{rank}.part").rename(folder / f"{rank}.json")


def run_one(spec):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        children = []
        for rank in range(spec["ranks"]):
            child = os.fork()
            if child == 0:
                if not os.environ.get("DDP_RANDOM_TRACE"):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # LibTorch's warnings
                run_rank(spec, rank, folder)
                os._exit(0)  # at once: peers that wait for this rank learn of it by its closed connections
            children.append(child)
        deadline = time.monotonic() + PATIENCE
        waiting = set(children)
        while waiting and time.monotonic() < deadline:
            for child in list(waiting):
                if os.waitpid(child, os.WNOHANG)[0]:
                    waiting.discard(child)
            time.sleep(0.01)
        for child in waiting:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        files = [folder / f"{rank}.json" for rank in range(spec["ranks"])]
        ranks = [json.loads(f.read_text()) if f.exists() else {"error": "hung, or crashed"} for f in files]
    if any("error" in rank for rank in ranks):
        return {"errors": [rank.get("error") for rank in ranks]}
    return {"tensors": [rank["tensors"] for rank in ranks]}


def run(specs):
    # Fork is safe here: nothing was computed in this process, so that it has no threads.
    return [run_one(spec) for spec in specs]


if __name__ == "__main__":  # python_ranks.py SPECIFICATIONS OUTCOMES
    specifications = json.loads(pathlib.Path(sys.argv[1]).read_text())
    pathlib.Path(sys.argv[2]).write_text(json.dumps(run(specifications)))
