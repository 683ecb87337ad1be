"""Writes networks.json and names.json: what torchvision and Hugging Face's transformers make and compute, for the tests
beside this file.

    reference.py make FOLDER     needs torch 2.11, torchvision 0.26 and transformers; FOLDER is this file's own

Of each case: names and sizes; the sums of what is drawn from seed 0 (vision alone); and in double, with values that follow
from a formula, sums of the outputs in training and then in evaluation, of gradients and of buffers. Of text also what is
generated greedily. names.json has a hash of the names and sizes of each network in full.
"""
import json
import math
import os
import sys

import torch

from cases import FULL, TEXTS, VISION
from python_models import full, make


def mixed(count, place):
    """Numbers from -1/2 to 1/2 that look like random ones."""
    i = torch.arange(count, dtype=torch.int64)
    return ((i * i * 31 + i * 7919 + place * 104729) % 100003).double() / 100003 - 0.5


def fill(parameters):
    for place, (name, p) in enumerate(parameters):
        values = mixed(p.numel(), place)
        if p.dim() > 1:
            values = values * (4.9 / math.sqrt(p.numel() // p.shape[0]))
        elif name.endswith("weight"):
            values = 1 + values
        p.data = values.view(p.shape)


def projection(t):
    flat = t.detach().double().reshape(-1)
    return (flat * cosines(flat)).sum().item()


def cosines(t):
    return torch.cos(0.3 * torch.arange(t.numel(), dtype=torch.double))


def state(module):
    """Parameters, and those buffers that are saved."""
    saved = module.state_dict().keys()
    return list(module.named_parameters()), [(n, b) for n, b in module.named_buffers() if n in saved]


def rounded(x):
    return float(f"{x:.13g}")


def named(module):
    parameters, buffers = state(module)
    return [[name, list(t.shape)] for name, t in parameters + buffers]


def inputs(spec, options):
    if "image" in spec:
        return {"x": (2 * mixed(math.prod(spec["image"]), 5)).view(spec["image"])}, 1
    rows, length = spec["ids"]
    i = torch.arange(rows * length)
    given = {"input_ids": ((i * i * 5 + 7 * i + 3) % options["vocab_size"]).view(rows, length)}
    if "padding" not in spec:
        return given, 1
    mask = (torch.arange(length) >= torch.tensor(spec["padding"]).unsqueeze(1)).long()
    return {**given, "attention_mask": mask, "position_ids": (mask.cumsum(1) - 1).clamp(min=0)}, mask.unsqueeze(2).double()


def forward(module, given, matters):
    return module(given["x"]) if "x" in given else module(**given).logits * matters


def generated(module, given):
    ids, mask = given["input_ids"], given.get("attention_mask", torch.ones_like(given["input_ids"]))
    with torch.no_grad():
        out = module.generate(ids, attention_mask=mask, max_new_tokens=8, do_sample=False, pad_token_id=0)
        third = out[0, ids.shape[1] + 2].item()  # ends the first row early
        ended = module.generate(ids, attention_mask=mask, max_new_tokens=8, do_sample=False, pad_token_id=1,
                                eos_token_id=third)
    return {"greedy": out.tolist(), "eos": third, "ended": ended.tolist()}


def computed(case):
    kind, options, spec = case
    torch.manual_seed(0)
    module = make(kind, dict(options))
    one = {"type": kind, "options": options, "input": spec, "named": named(module)}
    if "image" in spec:
        one["drawn"] = [rounded(p.detach().double().sum().item()) for _, p in state(module)[0]]
    module.double()
    fill(state(module)[0])
    module.train()
    given, matters = inputs(spec, options)
    output = forward(module, given, matters)
    (output.reshape(-1) * cosines(output)).sum().backward()
    one["train"] = [list(output.shape), rounded(projection(output))]
    one["gradients"] = [rounded(projection(p.grad)) for _, p in state(module)[0]]
    one["buffers"] = [rounded(projection(b)) for _, b in state(module)[1]]
    module.eval()
    one["eval"] = rounded(projection(forward(module, given, matters)))
    if "ids" in spec:
        one["generated"] = generated(module, given)
    return one


def hashed(module):
    """FNV-1a of 64 bits."""
    h = 0xcbf29ce484222325
    for name, sizes in named(module):
        for byte in f"{name} {','.join(map(str, sizes))}\n".encode():
            h = (h ^ byte) * 0x100000001b3 % 2**64
    return f"{h:016x}"


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


def main(arguments):
    if len(arguments) != 2 or arguments[0] != "make":
        sys.exit(__doc__)
    write(arguments[1], "networks.json", [json.dumps(computed(one)) for one in VISION + TEXTS])
    write(arguments[1], "names.json", [json.dumps({
        "type": kind, "named": len(named(module)), "elements": sum(p.numel() for p in module.parameters()),
        "hash": hashed(module)}) for kind, module in ((kind, full(kind)) for kind in FULL)])


if __name__ == "__main__":
    main(sys.argv[1:])
