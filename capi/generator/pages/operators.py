"""Writes docs/operators.md."""
import collections

HEAD = """# Operators

Written by `capi/generator` from the schemas that LibTorch's dispatcher lists (`capi/generator/operators/schemas.txt`).
Every operator can be called by name, with `gotorch.Call` in Go and `tdm_op_call` in C; those that `torch`,
`torch.Tensor`, `torch.nn.functional`, `torch.linalg`, `torch.fft` and `torch.special` offer to Python's users have typed
methods and functions as well: {bound} of {all} overloads. Names are frozen.

`Tensor.` is a method; `linalg.`, `fft.`, `special.` and `functional.` (`nn/functional`) are packages; the others are
functions of package `gotorch`. Package `variants` has what writes into tensors that are given (`Out`, in C++ `_out`) and
what copies where the operator gives a view (`Copy`). C++ names are of namespace `tandem::abi` (the header-only facade over
the C ABI, `tandem/abi/ops.hpp`). `I`, in C++ `_`, at the end overwrites the tensor. What has a default in the schema is
a field of the options struct, in C++ an optional parameter: unset means the default.

## With a typed binding

"""
OWN = """
## Of Tandem

What Python composes, as operators of namespace `tandem`, with the same two ways to call them: {own}. `initialize.` is package
`nn/initialize` (`torch.nn.init`), `utils.` is `nn/utils` (`torch.nn.utils`); what overwrites a tensor has no other form, and no
`I`.

"""
LEFT = """
## Left out

{left} overloads, by reason. An operator …

"""


def table(bound, columns):
    lines = ["| operator | " + " | ".join(title for title, _ in columns) + " |\n", "|---" * (1 + len(columns)) + "|\n"]
    named = lambda names, key: f"`{names[key]}`" if key in names else "-"
    return lines + [f"| `{b.op.key}` | " + " | ".join(named(names, b.op.key) for _, names in columns) + " |\n" for b in bound]


def page(api, columns):
    """`columns`: (language, {operator's key: name})"""
    bound, left_out = api.bound, api.left_out
    lines = [HEAD.format(bound=len(bound), all=len(bound) + len(left_out))] + table(bound, columns)
    lines.append(OWN.format(own=len(api.own)))
    lines += table(api.own, columns)
    lines.append(LEFT.format(left=len(left_out)))
    reasons = collections.defaultdict(list)
    for op, why in left_out:
        reasons[why].append(op.key)
    for why, keys in sorted(reasons.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        lines.append(f"### … {why}\n\n{len(keys)}: " + ", ".join(f"`{key}`" for key in keys) + "\n\n")
    return "".join(lines).rstrip("\n") + "\n"
