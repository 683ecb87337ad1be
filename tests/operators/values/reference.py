"""Reference values by Python's torch: results and gradients of the cases that have them, in double precision.

    reference.py make CHECKOUT     writes reference.txt.gz
    reference.py check CHECKOUT    fails when it would write something else

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv). The Go test reads
the file: "case KEY", the results, then "grad N SIZES: ELEMENTS" for each tensor that was given. What is differentiated
is the sum of all elements of all results, the i-th element times 1 + i mod 7 / 10.
"""
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent.parent / "capi/generator"))

import torch

from arguments import DTYPES, List, T
from operators import model
from recipes import NO_CASE, argument_of

FILE = HERE / "reference.txt.gz"
TYPES = {name: getattr(torch, name) for name in DTYPES}
WIDE = {"float32": "float64", "complex64": "complex128"}
RANDOM = {"bernoulli", "binomial", "poisson", "multinomial", "normal", "dropout", "alpha_dropout", "feature_dropout",
          "feature_alpha_dropout", "rrelu", "rand_like", "randn_like", "randint_like", "empty_like", "new_empty",
          "new_empty_strided"}
# Signs of vectors and unpivoted parts are the library's choice: as good with the other one.
FREE = {"svd", "qr", "linalg_svd", "linalg_qr", "linalg_eig", "linalg_eigh", "geqrf", "ormqr", "linalg_lstsq"}


def tensor(t, name, with_grad):
    dtype = WIDE.get(t.dtype, t.dtype)
    elements = torch.tensor(t.elements(name), dtype=torch.float64)
    elements = torch.view_as_complex(elements.view(-1, 2)) if "complex" in dtype else elements
    made = elements.to(TYPES[dtype]).view(t.shape).clone()
    return made.requires_grad_(with_grad and (made.is_floating_point() or made.is_complex()))


def value(op, i, with_grad):
    a, given = op.arguments[i], argument_of(op, i)
    name = f"{op.name.rstrip('_')} {a.name}"
    if isinstance(given, T):
        return tensor(given, name, with_grad)
    if isinstance(given, List):
        return [None if t is None else tensor(t, f"{name} {j}", with_grad) for j, t in enumerate(given.tensors)]
    if a.type.startswith("ScalarType") and given is not None:
        return TYPES[given]
    return given


def function(op, home):
    """The name that users call, or what torch.nn.functional calls for it."""
    for namespace in ("linalg", "fft", "special"):
        if home == namespace:
            return getattr(getattr(torch, namespace), op.name.removeprefix(namespace + "_"))
    if home == "Tensor":
        return getattr(torch.Tensor, op.name)
    return getattr(torch, op.name, None) or getattr(torch._C._nn, op.name)


def tensors_of(values):
    for v in values:
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from tensors_of(v)


def elements(t):
    t = t.detach().resolve_conj().resolve_neg()
    t = torch.view_as_real(t) if t.is_complex() else t
    flat = t.contiguous().view(-1).tolist()
    if not t.is_floating_point():
        return " ".join(str(int(x)) for x in flat)
    return " ".join("0" if abs(x) < 1e-12 else f"{x:.7g}" for x in flat)


def line(kind, t):
    return f"{kind} " + " ".join(map(str, t.shape)) + ": " + elements(t)


def loss(results):
    total = 0
    for r in results:
        if r.requires_grad:
            r = torch.view_as_real(r.resolve_conj()) if r.is_complex() else r
            weights = 1 + torch.arange(r.numel(), dtype=torch.float64) % 7 / 10
            total = total + (r.to(torch.float64) * weights.view(r.shape)).sum()
    return total


def case(b, all_grads):
    """The lines of an operator's case, None when it has no gradient; of all tensors, or of the first argument alone."""
    op = b.op
    values = [value(op, i, all_grads or i == 0) for i in range(len(op.arguments))]
    given = list(tensors_of(values))
    if any(isinstance(argument_of(op, i), T) and argument_of(op, i).form != "dense" for i in range(len(op.arguments))):
        return None
    positional = [v for a, v in zip(op.arguments, values) if not a.keyword and a.type != "Generator?"]
    keywords = {a.name: v for a, v in zip(op.arguments, values)
                if a.keyword and v is not None and a.type != "Generator?"}
    while positional and positional[-1] is None:
        positional.pop()
    results = function(op, b.home)(*positional, **keywords)
    results = list(tensors_of([results]))
    if not any(r.requires_grad for r in results) or not all(torch.isfinite(r).all() for r in results):
        return None
    total = loss(results)
    total.backward()
    lines = [f"case {op.key}"] + [line("result", r) for r in results]
    for i, t in enumerate(given):
        if t.grad is not None:
            if not torch.isfinite(t.grad).all():
                return None
            lines.append(line(f"grad {i}", t.grad))
    return lines


def case_of(b):
    try:
        return case(b, True)
    except RuntimeError:  # as a weight of classes, which has no gradient
        return case(b, False)


def text():
    torch.set_num_threads(1)
    lines, refused = [], []
    for b in model.build()[0]:
        op = b.op
        if op.outputs or op.in_place or op.name in RANDOM | FREE or op.key in NO_CASE:
            continue
        try:
            lines += case_of(b) or []
        except (TypeError, RuntimeError, AttributeError, ValueError) as e:
            refused.append(f"{op.key}: {str(e).splitlines()[0]}")
    return "\n".join(lines) + "\n", refused


def main(command):
    lines, refused = text()
    packed = gzip.compress(lines.encode(), mtime=0)
    count = lines.count("case ")
    if command == "make":
        FILE.write_bytes(packed)
        print("\n".join(refused))
        print(f"{count} operators, {len(packed)} bytes; {len(refused)} are not called like this in Python")
    elif gzip.decompress(FILE.read_bytes()) != lines.encode():
        sys.exit(f"{FILE.name} is not what torch {torch.__version__} gives; reference.py make CHECKOUT writes it")
    else:
        print(f"{count} operators, without difference")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    main(sys.argv[1])
