"""Modules that Python's torch scripted and traced, with what they give and what Python's DDP makes of them.

    models.py make             writes files/*.pt and files/expected.safetensors
    models.py check PROGRAM... runs a test, which writes modules that it trained, or made, into the folder that TANDEM_JIT_FOLDER
                               names; loads each, and compares its parameters and outputs

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv).
"""
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor

FILES = pathlib.Path(__file__).parent / "files"
RANKS, STEPS, BATCH = 2, 20, 3
RATE, MOMENTUM = 0.1, 0.9


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Norm(torch.nn.Module):
    """Batch statistics, and a buffer that forward assigns."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 6)
        self.norm = torch.nn.BatchNorm1d(6)
        self.last = torch.nn.Linear(6, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.calls = self.calls + 1
        return self.last(torch.relu(self.norm(self.first(x))))


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(x)))[:, :3]


class Point(NamedTuple):
    x: Tensor
    weight: float


class Nested(torch.nn.Module):
    """Values of all structures, and methods besides forward."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, pair: Tuple[Tensor, Tensor], parts: List[Tensor], named: Dict[str, Tensor],
                by: float = 1.0) -> Dict[str, Tuple[Tensor, List[Tensor]]]:
        sums: List[Tensor] = []
        for part in parts:
            sums.append(part * self.scale)
        first, second = pair
        return {"all": (first * by + second, sums), "named": (named["a"] + named["b"], parts)}

    @torch.jit.export
    def shift(self, x: Tensor, by: Optional[int] = None) -> Tensor:
        return x if by is None else x + by

    @torch.jit.export
    def numbers(self, counts: List[int], table: Dict[int, float], names: List[str],
                rows: List[List[int]]) -> Tuple[int, Dict[str, List[float]], List[List[int]], bool]:
        total = 0
        for count in counts:
            total += count
        values = [table[key] for key in table]
        return total, {name: values for name in names}, [row[::-1] for row in rows], total > 0

    @torch.jit.export
    def point(self, point: Point) -> Point:
        return Point(point.x * point.weight, point.weight + 1)

    @torch.jit.export
    def check(self, x: Tensor) -> Tensor:
        if bool((x < 0).any()):
            raise ValueError("an element is negative")
        return x.sqrt()

    @torch.jit.export
    def product(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y


class Buffers(torch.nn.Module):
    """What of a module is a buffer: a plain tensor is none, one that is not persistent is."""

    def __init__(self):
        super().__init__()
        self.plain = torch.ones(2)
        self.register_buffer("kept", torch.ones(3))
        self.register_buffer("passing", torch.ones(4), persistent=False)
        self.register_buffer("missing", None)
        self.inner = torch.nn.ModuleDict({"one": torch.nn.Linear(2, 2), "two": torch.nn.ModuleList([torch.nn.Linear(2, 1)])})
        self.same = self.inner["one"]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.inner["two"]:
            x = layer(self.inner["one"](x) + self.plain)
        return x


class Assigning(torch.nn.Module):
    """Methods that give, exchange, shift and use the buffers that they assign, or fail after it."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(1.0))
        self.register_buffer("last", torch.tensor(0.0))
        self.register_buffer("older", torch.tensor(0.0))
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        before = self.last
        self.last = x
        return before

    @torch.jit.export
    def exchange(self, x: Tensor) -> Tensor:
        last = self.last
        self.last = self.older
        self.older = last
        return x + self.last * 10 + self.older

    @torch.jit.export
    def shift(self, x: Tensor) -> Tensor:
        self.older = self.last
        self.last = x
        return self.older

    @torch.jit.export
    def scaled(self, x: Tensor) -> Tensor:
        y = self.weight * x * self.scale
        self.scale = self.scale * 10
        return y

    @torch.jit.export
    def count(self, x: Tensor) -> Tensor:
        self.last = self.last + 1
        if bool((x < 0).any()):
            raise ValueError("an element is negative")
        return self.last


TRAINED = {"mlp": Mlp, "norm": Norm, "tied": Tied}


def made(kind):
    torch.manual_seed(7)
    return kind().double()


def batches():
    torch.manual_seed(3)
    return torch.randn(RANKS, STEPS, BATCH, 4).double(), torch.randn(RANKS, STEPS, BATCH, 3).double()


def train(rank, name, store, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(made(TRAINED[name]))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    inputs, targets = batches()
    for step in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs[rank, step]), targets[rank, step]).backward()
        optimizer.step()
    if rank == 0:
        torch.save(model.module.state_dict(), f"{folder}/trained.pt")
    torch.distributed.destroy_process_group()


def trained(name):
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(train, (name, f"{folder}/store", folder), nprocs=RANKS)
        return torch.load(f"{folder}/trained.pt")


def assigned():
    """What three calls of each method of Assigning give, and its buffers after each."""
    expected = {}
    for method in ("forward", "exchange", "shift", "scaled"):
        module = torch.jit.load(str(FILES / "assigning.pt"))
        with torch.no_grad():
            module.last.fill_(5)
            module.older.fill_(7)
        given, left = [], []
        for x in (1.0, 2.0, 3.0):
            given.append(getattr(module, method)(torch.tensor(x).double()))
            left.append(torch.stack([module.last, module.older, module.scale]))
        expected[f"assigning.{method}"] = torch.stack(given)
        expected[f"assigning.{method}.buffers"] = torch.stack(left)
        if method == "scaled":
            given[0].backward()
            expected["assigning.scaled.gradient"] = module.weight.grad
    return expected


DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.int64: "I64"}


def save_safetensors(path, tensors):
    header, place, parts = {}, 0, []
    for name, tensor in tensors.items():
        data = bytes(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [place, place + len(data)]}
        place += len(data)
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def save(script, name):
    """Without what says where in which files the code was."""
    buffer = io.BytesIO()
    torch.jit.save(script, buffer)
    with zipfile.ZipFile(buffer) as whole, zipfile.ZipFile(FILES / f"{name}.pt", "w") as kept:
        for member in whole.infolist():
            if member.filename.endswith(".debug_pkl"):
                continue
            named = zipfile.ZipInfo(name + member.filename[member.filename.index("/"):], (1980, 1, 1, 0, 0, 0))
            named.compress_type = member.compress_type
            kept.writestr(named, whole.read(member))


def make():
    FILES.mkdir(exist_ok=True)
    inputs, targets = batches()
    expected = {"inputs": inputs, "targets": targets}
    x = inputs[0, 0]
    for name, kind in TRAINED.items():
        model = torch.jit.script(made(kind))
        save(model, name)
        with torch.no_grad():
            expected[f"{name}.eval"] = model.eval()(x)
            expected[f"{name}.train"] = model.train()(x)
        expected |= {f"{name}.trained.{key}": value for key, value in trained(name).items()}
    save(torch.jit.trace(made(Mlp), x), "traced")
    save(torch.jit.freeze(torch.jit.script(made(Norm).eval())), "frozen")
    save(torch.jit.script(made(Nested)), "nested")
    save(torch.jit.script(made(Assigning)), "assigning")
    expected |= assigned()
    buffers = torch.jit.script(made(Buffers))
    save(buffers, "buffers")
    loaded = torch.jit.load(str(FILES / "buffers.pt"))
    names = {"parameters": [name for name, _ in loaded.named_parameters(remove_duplicate=False)],
             "buffers": [name for name, _ in loaded.named_buffers(remove_duplicate=False)],
             "state_dict": list(loaded.state_dict())}
    (FILES / "buffers.json").write_text(json.dumps(names, indent=1) + "\n")
    expected["buffers.eval"] = loaded(torch.ones(1, 2).double())
    save_safetensors(FILES / "expected.safetensors", expected)


def load_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    dtypes = {text: dtype for dtype, text in DTYPES.items()}
    tensors = {}
    for name, one in header.items():
        begin, end = (8 + size + place for place in one["data_offsets"])
        tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=dtypes[one["dtype"]]).reshape(one["shape"])
    return tensors


# Files of the names of TRAINED hold what was trained as train() does; of others what `calls` says.
def check(folder):
    expected = load_safetensors(FILES / "expected.safetensors")
    x = expected["inputs"][0, 0]
    calls = {"compiled": lambda module: module.doubled(x), "traced_function": lambda module: module(x)}
    results = {"compiled": 2 * x, "traced_function": torch.tanh(x) * 2 + 1}
    found = sorted(folder.glob("*.pt"))
    if not found:
        sys.exit("it wrote no file")
    for file in found:
        module = torch.jit.load(str(file))
        if file.stem in calls:
            torch.testing.assert_close(calls[file.stem](module), results[file.stem], rtol=1e-12, atol=0)
        else:
            state = module.state_dict()
            for name, tensor in expected.items():
                if name.startswith(f"{file.stem}.trained."):
                    torch.testing.assert_close(state.pop(name.removeprefix(f"{file.stem}.trained.")), tensor, rtol=1e-10, atol=1e-12)
            if state:
                sys.exit(f"{file.name} has more than Python's: {list(state)}")
            module.train()
            module(x).sum().backward()
            if any(parameter.grad is None for parameter in module.parameters()):
                sys.exit(f"{file.name}: a parameter gets no gradient")
        print(f"Python loaded {file.name}")


def main(mode, *arguments):
    warnings.simplefilter("ignore")
    if mode == "make":
        return make()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(arguments, env={**os.environ, "TANDEM_JIT_FOLDER": folder}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout)
        check(pathlib.Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
