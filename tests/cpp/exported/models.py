"""The exported programs that the tests run, and what Python makes of them.

    models.py make        writes files/*.pt2 and references.json (with PyTorch 2.11)
    models.py check TEST  has the test program TEST save what it has loaded, and loads that again
"""
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.export import Dim

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / "files"
STEPS, RANKS, RATE, MOMENTUM = 20, 2, 0.05, 0.9


def pattern(shape, seed):
    """Numbers in [-0.5, 0.5) that other languages compute to the same bits."""
    count = math.prod(shape)
    hashed = (torch.arange(count, dtype=torch.int64) * 2654435761 + seed * 40503 + 12345) % 2**32
    return (hashed.to(torch.float64) / 2**32 - 0.5).reshape(shape)


def classes(shape, seed, most):
    count = math.prod(shape)
    return ((torch.arange(count, dtype=torch.int64) * 7919 + seed * 104729) % most).reshape(shape)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.0)
        self.head = nn.Linear(4 * 16, 5)

    def forward(self, x):
        y = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.head(self.drop(y.flatten(1)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(5, 7, num_layers=2, batch_first=True)
        self.head = nn.Linear(7, 4)

    def forward(self, x, state=None):
        y, (h, c) = self.cells(x, state)
        return self.head(y), (h, c)


class EncoderLayer(nn.Module):
    """nn.TransformerEncoderLayer, whose own code fixes the length when it is exported."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.in_proj, self.out_proj = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.linear1, self.linear2 = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)
        self.norm1, self.norm2, self.drop = nn.LayerNorm(size), nn.LayerNorm(size), nn.Dropout(0.0)

    def forward(self, x, mask):
        batch, length, size = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.drop(self.out_proj(y.transpose(1, 2).reshape(batch, length, size))))
        return self.norm2(x + self.drop(self.linear2(torch.relu(self.linear1(x)))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(8, 2) for _ in range(2))
        self.embed = nn.Embedding(11, 8)
        self.register_buffer("scale", torch.tensor(1.5), persistent=False)

    def forward(self, tokens, *, padding):
        length = tokens.shape[1]
        causal = torch.full((length, length), float("-inf"), dtype=torch.float64).triu(1)
        mask = causal.masked_fill(padding[:, None, None], float("-inf"))
        hidden = self.embed(tokens) * self.scale
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


def resnet18(width=8):
    """torchvision's ResNet-18 with `width` channels in its first stage instead of 64."""
    from torchvision.models.resnet import BasicBlock, ResNet

    class Narrow(ResNet):
        def __init__(self):
            nn.Module.__init__(self)
            self._norm_layer, self.inplanes, self.dilation, self.groups, self.base_width = nn.BatchNorm2d, width, 1, 1, 64
            self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            self.layer1 = self._make_layer(BasicBlock, width, 2)
            self.layer2 = self._make_layer(BasicBlock, 2 * width, 2, stride=2)
            self.layer3 = self._make_layer(BasicBlock, 4 * width, 2, stride=2)
            self.layer4 = self._make_layer(BasicBlock, 8 * width, 2, stride=2)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(8 * width, 10)

    return Narrow()


class DecoderLayer(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.input_layernorm = nn.RMSNorm(size, eps=1e-6)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(size, size, bias=False) for _ in range(4))
        self.post_attention_layernorm = nn.RMSNorm(size, eps=1e-6)
        self.up_proj, self.gate_proj = nn.Linear(size, 2 * size, bias=False), nn.Linear(size, 2 * size, bias=False)
        self.down_proj = nn.Linear(2 * size, size, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, size = x.shape
        y = self.input_layernorm(x)

        def rotated(t):
            half = t.shape[-1] // 2
            return t * cos + torch.cat([-t[..., half:], t[..., :half]], -1) * sin

        q, k, v = (p(y).view(batch, length, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = nn.functional.scaled_dot_product_attention(rotated(q), rotated(k), v, attn_mask=mask)
        x = x + self.o_proj(y.transpose(1, 2).reshape(batch, length, size))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))


class Decoder(nn.Module):
    """In the style of Hugging Face's models: a dict of outputs, a head that has the embedding's weight."""

    def __init__(self, words=13, size=8, heads=2):
        super().__init__()
        self.model = nn.ModuleDict({"embed_tokens": nn.Embedding(words, size),
                                    "layers": nn.ModuleList(DecoderLayer(size, heads) for _ in range(2)),
                                    "norm": nn.RMSNorm(size, eps=1e-6)})
        self.lm_head = nn.Linear(size, words, bias=False)
        self.lm_head.weight = self.model["embed_tokens"].weight
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, size // heads, 2) / (size // heads)), persistent=False)

    def forward(self, input_ids, use_cache=False):
        length = input_ids.shape[1]
        x = self.model["embed_tokens"](input_ids)
        angles = torch.arange(length, device=input_ids.device)[:, None] * self.inv_freq[None]
        angles = torch.cat([angles, angles], -1)
        mask = torch.ones(length, length, dtype=torch.bool, device=input_ids.device).tril()
        hidden = []
        for layer in self.model["layers"]:
            x = layer(x, angles.cos(), angles.sin(), mask)
            hidden.append(x)
        return {"logits": self.lm_head(self.model["norm"](x)), "hidden_states": tuple(hidden)}


class Regions(nn.Module):
    """Regions of other modes, branches, loops, sizes that are computed, inputs of every kind."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, count, name="sum", *, options):
        self.calls.add_(1)
        y = torch.cond(x.sum() > 0, lambda t: t.sin() + 1, lambda t: t.cos(), (x,))
        _, y = torch._higher_order_ops.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (torch.tensor(0), y))
        with torch.no_grad():
            still = self.line(y)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = torch.mm(y, options["weights"][0])
        first, second = torch.split(self.line(y), [1, 2], -1)
        ones = torch.ones(x.shape[0] * 2 + 1, dtype=torch.float64) * options["factor"]
        picked = x[:, [0, 2]]
        return {"first": first, "rest": [second, ones]}, (still, low), x.shape[0] // 2 + count, None, picked


class Functional(nn.Module):
    """What a graph without in-place operators changes: a buffer, and an input."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x, y):
        y.mul_(2)
        return self.norm(x) + y


class Sizes(nn.Module):
    """Sizes that depend on each other."""

    def forward(self, x, y, count):
        return x.reshape(-1, 2).sum() + y.sum() * count, x.new_ones((y.shape[0], count)), x.shape[0] * 1.5, y[:count]


class Custom(nn.Module):
    """An operator of somebody's own, which tests/support/extension.cpp has in C++."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 2)

    def forward(self, x):
        return torch.ops.tandem_test.scaled(self.line(x), 3.0) + 1


def define_scaled():
    library = torch.library.Library("tandem_test", "DEF")
    library.define("scaled(Tensor x, float factor=2) -> Tensor")
    library.impl("scaled", lambda x, factor=2.0: x * factor, "CompositeImplicitAutograd")
    return library


SCALED = define_scaled()


def programs():
    """name → module, example inputs, their dynamic sizes, whether training is compared, how they are decomposed."""
    batch, length = Dim("batch", min=1, max=64), Dim("length", min=2, max=32)
    tokens = classes((2, 6), 3, 11)
    padding = torch.zeros(2, 6, dtype=torch.bool)
    regions = {"weights": (pattern((3, 3), 4),), "factor": pattern((1,), 5)}
    return {
        "mlp": (Mlp(), (pattern((4, 6), 1),), {}, ({0: batch},), {}),
        "cnn": (Cnn(), (pattern((4, 1, 8, 8), 1),), {}, ({0: batch},), {}),
        "lstm": (Lstm(), (pattern((3, 5, 5), 1),), {}, ({0: batch},), {}),
        "transformer": (Transformer(), (tokens,), {"padding": padding}, {"tokens": {0: batch, 1: length},
                                                                         "padding": {0: batch, 1: length}}, {}),
        "resnet18": (resnet18(), (pattern((4, 3, 64, 64), 1),), {}, ({0: Dim("batch", min=2, max=64)},), {}),
        "decoder": (Decoder(), (classes((2, 5), 1, 13),), {}, ({0: batch, 1: length},), {}),
        "regions": (Regions(), (pattern((4, 3), 1), 3, "sum"), {"options": regions},
                    {"x": {0: Dim("rows", min=2, max=50)}, "count": None, "name": None,
                     "options": {"weights": (None,), "factor": None}}, {}),
        "functional": (Functional(), (pattern((4, 3), 1), pattern((4, 3), 2)), {}, ({0: batch}, {0: batch}),
                       {"decomposed": True}),
        "sizes": (Sizes(), (pattern((16,), 1), pattern((8,), 2), 3), {},
                  ({0: 2 * Dim("half", min=6, max=50)}, {0: Dim("half", min=6, max=50)}, Dim.DYNAMIC), {}),
        "custom": (Custom(), (pattern((4, 3), 1),), {}, ({0: batch},), {}),
    }


TRAINED = ("mlp", "cnn", "lstm", "transformer", "resnet18", "decoder")


def batch_of(name, rank, step):
    """The inputs of a rank's step, and what the first output is to be."""
    seed = 1000 + 10 * step + rank
    if name == "transformer":
        padding = torch.zeros(2, 7, dtype=torch.bool)
        padding[1, 5:] = True
        return (classes((2, 7), seed, 11),), {"padding": padding}
    shapes = {"mlp": (3, 6), "cnn": (3, 1, 8, 8), "lstm": (2, 5, 5), "resnet18": (4, 3, 64, 64)}
    return ((classes((2, 6), seed, 13),) if name == "decoder" else (pattern(shapes[name], seed),)), {}


def first_of(output):
    if isinstance(output, dict):
        output = output["logits"]
    return output[0] if isinstance(output, tuple) else output


def set_weights(module):
    """Small numbers, the same on all machines, of few bits so that files compress."""
    with torch.no_grad():
        for number, parameter in enumerate(dict.fromkeys(module.parameters())):
            scale = 1 / math.sqrt(max(parameter[0].numel(), 1)) if parameter.dim() > 1 else 0.25
            values = pattern(parameter.shape, 7 * number + 1) * 2 * scale
            if parameter.dim() == 1:
                values = values + (1.0 if number % 2 else 0.0)
            parameter.copy_(values.to(torch.bfloat16))


def digest(tensor):
    flat = tensor.detach().to(torch.float64).flatten()
    weights = pattern(flat.shape, 99)
    return [list(tensor.shape), float(flat.sum()), float((flat * weights).sum()), float(flat.abs().sum())]


def leaves(value):
    return torch.utils._pytree.tree_flatten(value)[0]


def described(value):
    return {"tensor": digest(value)} if isinstance(value, torch.Tensor) else {"value": value}


def make_module(name):
    torch.manual_seed(0)
    module, inputs, keywords, dynamic, how = programs()[name]
    module = module.double()
    set_weights(module)
    return module, inputs, keywords, dynamic, how


def export(name, training):
    module, inputs, keywords, dynamic, how = make_module(name)
    program = torch.export.export(module.train(training), inputs, keywords, dynamic_shapes=dynamic)
    program = program.run_decompositions() if how.get("decomposed") else program
    for part in program.graph_module.modules():
        for node in part.graph.nodes:
            node.meta.pop("stack_trace", None)  # where this file lies
    return program


def train_rank(rank, name, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    module, *_ = make_module(name)
    module.train()
    parallel = nn.parallel.DistributedDataParallel(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE, momentum=MOMENTUM)
    for step in range(STEPS):
        inputs, keywords = batch_of(name, rank, step)
        out = first_of(parallel(*inputs, **keywords))
        optimizer.zero_grad()
        ((out - pattern(out.shape, 500 + step)) ** 2).mean().backward()
        optimizer.step()
    if rank == 0:
        results.put({key: digest(value) for key, value in module.state_dict().items()})
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def trained(name, port):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    ranks = [context.Process(target=train_rank, args=(rank, name, port, results)) for rank in range(RANKS)]
    for each in ranks:
        each.start()
    state = results.get()
    for each in ranks:
        each.join()
    return state


def make():
    FILES.mkdir(exist_ok=True)
    references = {}
    for number, name in enumerate(programs()):
        modes = {"": True} if name in ("regions", "functional", "sizes", "resnet18", "custom") else {"": True, "_eval": False}
        for suffix, training in modes.items():
            program = export(name, training)
            torch.export.save(program, FILES / f"{name}{suffix}.pt2")
            program = torch.export.load(FILES / f"{name}{suffix}.pt2")
            _, inputs, keywords, *_ = make_module(name)
            called = program.module()
            outputs = called(*inputs, **keywords)
            again = leaves(called(*inputs, **keywords))
            references[name + suffix] = {
                "outputs": [described(value) for value in leaves(outputs)],
                "again": [described(value) for value in again],
                "state": {key: digest(value) for key, value in called.state_dict().items()},
            }
        if name in TRAINED:
            references[name]["trained"] = trained(name, 29700 + number)
    (HERE / "references.json").write_text(json.dumps(references, indent=1) + "\n", encoding="utf-8")


def check(test):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([test, "--gtest_filter=*EqualsPythons*"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "EXPORTED_ARCHIVES": folder})
        references = json.loads((HERE / "references.json").read_text(encoding="utf-8"))
        seen = 0
        for path in sorted(pathlib.Path(folder).glob("*.pt2")):
            program = torch.export.load(path)
            reference = references[path.stem]
            for key, value in program.state_dict.items():
                wanted = reference["trained"][key]
                assert list(value.shape) == wanted[0], (path.stem, key)
                for got, each in zip(digest(value)[1:], wanted[1:]):
                    assert math.isclose(got, each, rel_tol=1e-8, abs_tol=1e-9), (path.stem, key, got, each)
            _, inputs, keywords, *_ = make_module(path.stem)
            program.module()(*inputs, **keywords)
            seen += 1
        assert seen == len(TRAINED), seen
    print(f"Python loads and runs {seen} archives that were trained here")


if __name__ == "__main__":
    if sys.argv[1:] == ["make"]:
        make()
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
