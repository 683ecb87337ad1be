"""Writes docs/operators.md."""
import collections

import cpp_layer

HEAD = """# Operators

Written by `capi/operators/generate.py` from the schemas that LibTorch's dispatcher lists (`capi/operators/schemas.txt`).
Every operator can be called by name, with `gotorch.Call` in Go and `tdm_op_call` in C; those that `torch`,
`torch.Tensor`, `torch.nn.functional`, `torch.linalg`, `torch.fft` and `torch.special` offer to Python's users have typed
methods and functions as well: {bound} of {all} overloads. Names are frozen.

`Tensor.` is a method; `linalg.`, `fft.`, `special.` and `functional.` (`nn/functional`) are packages; the others are
functions of package `gotorch`. C++ names are of namespace `tandem::abi` (the header-only facade over the C ABI,
`tandem/abi/ops.hpp`). `I`, in C++ `_`, at the end overwrites the tensor; `Out`, `_out`,
writes into tensors that are given. What has a default in the schema is a field of the options struct, in C++ an optional
parameter: unset means the default.

## With a typed binding

| operator | Go | C++ |
|---|---|---|
"""
LEFT = """
## Left out

{left} overloads, by reason. An operator …

"""


def page(bound, left_out):
    lines = [HEAD.format(bound=len(bound), all=len(bound) + len(left_out))]
    functions = cpp_layer.by_name(bound)
    lines += [f"| `{b.op.key}` | `{b.go}` | `{cpp_layer.qualified(b, functions)}` |\n" for b in bound]
    lines.append(LEFT.format(left=len(left_out)))
    reasons = collections.defaultdict(list)
    for op, why in left_out:
        reasons[why].append(op.key)
    for why, keys in sorted(reasons.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        lines.append(f"### … {why}\n\n{len(keys)}: " + ", ".join(f"`{key}`" for key in keys) + "\n\n")
    return "".join(lines).rstrip("\n") + "\n"
