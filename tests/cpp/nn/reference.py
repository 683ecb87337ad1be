"""Writes modules.json: what Python's torch.nn computes, for the tests beside this file.

    reference.py make FOLDER     needs torch 2.11; FOLDER is this file's own

Of each case: names and sizes of parameters and buffers; the values that parameters are drawn with from seed 0; and in
double, with parameters and inputs that follow from formulas, sums of the results and of all gradients. A line a case.
"""
import json
import math
import os
import sys

import torch
from torch import nn

from cases import CASES


def wave(i, j):
    return math.sin(0.7 * i + 1.3 * j + 0.5)


FORMULAS = {
    "real": lambda i, j: 1.5 * wave(i, j),
    "fixed": lambda i, j: 1.5 * wave(i, j),
    "positive": lambda i, j: 0.2 + abs(wave(i, j)),
    "part": lambda i, j: 0.5 + 0.4 * wave(i, j),
    "sign": lambda i, j: -1.0 if (i + j) % 3 == 0 else 1.0,
    "flags": lambda i, j: (i + j) % 4 == 3,
}


def tensor(spec, place):
    if "numbers" in spec:
        return torch.tensor(spec["numbers"])
    if "causal" in spec:
        return torch.ones(spec["causal"], spec["causal"]).triu(1).bool()
    kind = next(iter(spec))
    shape = spec[kind]
    count = math.prod(shape)
    if kind == "whole":
        return torch.tensor([(5 * i + 3 * place + i * i % 7) % spec["below"] for i in range(count)]).view(shape)
    values = [FORMULAS[kind](i, place) for i in range(count)]
    return torch.tensor(values, dtype=torch.bool if kind == "flags" else torch.double).view(shape)


def value(spec, place, leaves):
    """Floating-point tensors are leaves that gradients go to."""
    if not isinstance(spec, dict):
        return spec
    if "tuple" in spec:
        return tuple(value(one, place + 0.1 * (k + 1), leaves) for k, one in enumerate(spec["tuple"]))
    if "indices" in spec:
        pool = getattr(nn, spec["indices"])(kernel_size=2, return_indices=True)
        return pool(tensor({"real": spec["shape"]}, 0))[1]
    made = tensor(spec, place)
    if made.is_floating_point() and not spec.keys() & {"fixed", "sign"}:
        leaves.append(made.requires_grad_())
    return made


def projection(t):
    flat = t.detach().double().reshape(-1)
    return sum(math.cos(0.3 * i) * x for i, x in enumerate(flat.tolist()))


def spread(results):
    for one in results if isinstance(results, tuple) else [results]:
        if isinstance(one, tuple):
            yield from spread(one)
        else:
            yield one


def stack(kind):
    def make(num_layers, norm=False, **layer):
        return getattr(nn, kind)(getattr(nn, kind + "Layer")(**layer), num_layers,
                                 nn.LayerNorm(layer["d_model"]) if norm else None)
    return make


MAKERS = {"TransformerEncoder": stack("TransformerEncoder"), "TransformerDecoder": stack("TransformerDecoder")}


def option(given):
    if isinstance(given, dict):
        return torch.tensor(given["tensor"])
    return tuple(given) if isinstance(given, list) else given


def drawn(module):
    """What one seed gives, in single precision: the first values of each parameter, and their sum."""
    return {name: [*p.detach().reshape(-1)[:4].tolist(), p.detach().double().sum().item()] for name, p in module.named_parameters()}


def fill(module):
    for k, p in enumerate(module.parameters()):
        values = [0.4 * math.sin(0.9 * i + 0.4 * k + 0.2) for i in range(p.numel())]
        p.data = torch.tensor(values, dtype=torch.double).view(p.shape)


def computed(one):
    torch.manual_seed(0)
    module = MAKERS.get(one["type"], getattr(nn, one["type"]))(**{k: option(v) for k, v in one["options"].items()})
    one["drawn"] = drawn(module)
    one["parameters"] = [[name, list(p.shape)] for name, p in module.named_parameters()]
    module.double()
    fill(module)
    module.train(one["mode"] == "train")
    leaves = []
    arguments = [value(spec, place, leaves) for place, spec in enumerate(one["arguments"])]
    torch.manual_seed(1)
    results = [r for r in spread(module(*arguments)) if r is not None]
    one["results"] = [[list(r.shape), projection(r)] for r in results]
    one["buffers"] = [[name, list(b.shape), projection(b)] for name, b in module.named_buffers()]
    leaves += module.parameters()
    loss = sum((r.reshape(-1) * cosines(r)).sum() for r in results if r.requires_grad)
    if not isinstance(loss, int):
        loss.backward()
    one["gradients"] = [None if leaf.grad is None else projection(leaf.grad) for leaf in leaves]
    return one


def cosines(t):
    return torch.tensor([math.cos(0.3 * i) for i in range(t.numel())], dtype=torch.double)


def main(arguments):
    if len(arguments) != 2 or arguments[0] != "make":
        sys.exit(__doc__)
    lines = [json.dumps(computed(one)) for one in CASES]
    with open(os.path.join(arguments[1], "modules.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
