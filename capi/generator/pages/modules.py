"""Writes docs/modules.md."""
import itertools

HEAD = """# Modules

Written by `capi/generator` from what the registry says of itself (`capi/generator/modules/modules.json`). All {count} have
constructors in Go (`nn.NewLinear`) and classes in Java (`org.tandem.nn.Linear`); every language makes them by name and
options ([Modules, optimizers, checkpoints](modules-and-optimizers.md)). Names, options and defaults are those of `torch.nn`
in Python; the parameters that seed 0 draws, outputs and gradients too, as a test holds.

An option in **bold** must be given. `[2]` is a number for each of two dimensions, or one for all; `?` means that none is
taken, too. What a forward takes stands in brackets where it may be left out.

"""
DIFFERENCES = """
## What differs from Python

- `device` and `dtype` are no options: `To` moves a module. `size_average` and `reduce`, which Python deprecates, are none either.
- `Softmax`, `Softmin` and `LogSoftmax` need `dim`, which Python deprecates to leave out.
- `TransformerEncoder` and `TransformerDecoder` take the options of their layers, which Python takes a layer for, and `norm`
  for a LayerNorm after them. Their fast path of evaluation, with nested tensors, is not there; nor is that of
  MultiheadAttention. `activation` is a name.
- A mask that is causal is not looked for: `is_causal` says so. It needs no mask beside it.
- `TripletMarginWithDistanceLoss` takes no function; its distance is Euclidean.
- `Identity` takes no options, `Unflatten` no names of dimensions, `GaussianNLLLoss` the variance as a tensor alone.
- `output_size` of adaptive pools takes -1 where Python takes None.

## Left out

| class of `torch.nn` | why |
|---|---|
"""


def default(option):
    if option.required:
        return ""
    value = option.default
    if isinstance(value, list) and value and len(set(value)) == 1:
        value = value[0]
    return f" ({'none' if value is None else str(value).lower() if isinstance(value, bool) else value})"


def told(option):
    name = f"**{option.name}**" if option.required else option.name
    sizes = f"[{option.dimensions}]" if option.dimensions else ""
    return name + sizes + ("?" if option.may_be_none else "") + default(option)


def forward(module):
    needed = [a.name for a in module.arguments if a.required]
    optional = [a.name for a in module.arguments if not a.required]
    return ", ".join(needed) + (f" [{', '.join(optional)}]" if optional else "")


def page(api, left_out):
    lines = [HEAD.format(count=len(api.modules))]
    by_topic = sorted(api.modules, key=lambda m: (m.topic, m.type))
    for topic, members in itertools.groupby(by_topic, lambda m: m.topic):
        lines.append(f"## {topic.capitalize()}\n\n| module | options (default) | forward |\n|---|---|---|\n")
        lines += [f"| {m.type} | {', '.join(told(o) for o in m.options)} | {forward(m)} |\n" for m in members]
        lines.append("\n")
    lines[-1] = DIFFERENCES
    lines += [f"| {name} | {why} |\n" for name, why in left_out.items()]
    return "".join(lines)
