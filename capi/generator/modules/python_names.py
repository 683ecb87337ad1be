"""Prints the modules that Python's torch.nn offers, with options and defaults: run it with a Python that has torch of the
version in the first line.

    python_names.py > python.txt

A line a module: its name, and its options as JSON, {name: [default]} or {name: []} where there is none.
"""
import inspect
import json

import torch
from torch import nn

# Deprecated, or Python's own: where tensors are made is said by To.
NOT_OPTIONS = {"self", "args", "kwargs", "device", "dtype", "size_average", "reduce"}


def options(module):
    constructor = nn.RNNBase.__init__ if issubclass(module, nn.RNNBase) else module.__init__
    found = {}
    for name, parameter in inspect.signature(constructor).parameters.items():
        if name in NOT_OPTIONS or name.startswith("_"):
            continue
        default = parameter.default
        if callable(default) and default is not inspect.Parameter.empty:
            default = default.__name__
        found[name] = [] if default is inspect.Parameter.empty else [default]
    return found


names = sorted(n for n, o in vars(nn).items() if inspect.isclass(o) and issubclass(o, nn.Module))
print(f"Modules that Python's torch.nn {torch.__version__.split('+')[0]} offers; written by python_names.py.")
for name in names:
    print(name, json.dumps(options(getattr(nn, name))))
