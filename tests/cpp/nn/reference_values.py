"""Tensors that both sides make by the same formula, and how results are stored; for reference_functions.py."""
import torch

DTYPES = {"double": torch.float64, "float": torch.float32, "long": torch.int64, "bool": torch.bool}


def T(*sizes, start=0, dtype="double", **more):
    """A tensor of numbers from -11/8 to 11/8; positive: from 1/2 to 15/8; values: these; grad: with a gradient."""
    return {"sizes": list(sizes), "start": start, "dtype": dtype, **more}


def L(*values):
    return T(len(values), dtype="long", values=list(values))


def B(*sizes, values):
    return T(*sizes, dtype="bool", values=values)


def numbers(count, start, positive):
    signed = [((i * 7 + start * 5) % 23 - 11) / 8 for i in range(count)]
    return [abs(x) + 0.5 for x in signed] if positive else signed


def tensor(given):
    count = 1
    for size in given["sizes"]:
        count *= size
    values = given.get("values") or numbers(count, given["start"], given.get("positive"))
    made = torch.tensor(values, dtype=torch.float64).to(DTYPES[given["dtype"]]).view(given["sizes"])
    if "grad" in given:
        made.grad = torch.tensor(numbers(count, given["grad"], False), dtype=made.dtype).view(given["sizes"])
    return made


def value(given):
    if isinstance(given, dict):
        return [tensor(t) for t in given["tensors"]] if "tensors" in given else tensor(given)
    return given


def tensors_of(values):
    for v in values:
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from tensors_of(v)


def described(t, exact):
    if t is None:
        return None
    if not isinstance(t, torch.Tensor):
        return {"sizes": [], "values": [float(t)]}
    values = t.detach().to(torch.float64).reshape(-1).tolist()
    return {"sizes": list(t.shape), "values": values if exact else [float(f"{x:.12g}") for x in values]}


def loss(results):
    total = 0
    for r in results:
        if r is not None and r.requires_grad:
            weights = 1 + torch.arange(r.numel(), dtype=torch.float64) % 7 / 10
            total = total + (r.to(torch.float64) * weights.view(r.shape)).sum()
    return total
