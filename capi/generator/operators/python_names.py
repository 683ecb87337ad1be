"""Prints what Python's torch offers by namespace: run it with a Python that has torch of the version in schemas.txt.

    python_names.py > python.txt

Which names users can call is not in LibTorch's headers, nor which out= variants Python has: LibTorch makes more of its
own for its compiler. The latter are those that native_functions.yaml declares; the wheel of torch carries it.
"""
import os
import re
import textwrap

import torch
import torch.nn.functional
import torchgen


def public(space):
    return sorted(n for n in dir(space) if n[0].islower() and callable(getattr(space, n, None)))


def out_variants():
    path = os.path.join(os.path.dirname(torchgen.__file__), "packaged/ATen/native/native_functions.yaml")
    with open(path, encoding="utf-8") as file:
        declared = re.findall(r"^- func: ([\w.]+)\((.*?)\) ->", file.read(), flags=re.M)
    return sorted(name for name, arguments in declared if re.search(r"\*.*!\)", arguments))


SPACES = {
    "torch": public(torch), "Tensor": public(torch.Tensor), "functional": public(torch.nn.functional),
    "nn": public(torch._C._nn), "linalg": public(torch._C._linalg), "fft": public(torch._C._fft),
    "special": public(torch._C._special), "out": out_variants(),
}
print(f"Names that Python's torch {torch.__version__.split('+')[0]} offers; written by python_names.py.")
for space, names in SPACES.items():
    print(f"\n[{space}]")
    print(textwrap.fill(" ".join(names), 118, break_long_words=False, break_on_hyphens=False))
