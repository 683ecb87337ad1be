"""Modules with parametrizations and over packed sequences; for reference_functions.py."""
import torch
from torch.nn.utils import rnn

from reference_values import T, described, loss, tensor, tensors_of


def made(kind, options):
    """A module in double, whose parameters are of the formula: start is the place of the name among all, sorted."""
    module = getattr(torch.nn, kind)(**options).double()
    named = dict(module.named_parameters())
    for i, name in enumerate(sorted(named)):
        named[name].data.copy_(tensor(T(*named[name].shape, start=i)) / 4)
    return module


def state(module, grads=False):
    return {name: described(t.grad if grads else t, False) for name, t in module.named_parameters()} | (
        {} if grads else {name: described(t, False) for name, t in module.named_buffers()})


def parametrized(kind, options, sizes, how, name, more):
    """Two steps of training, an evaluation, and what is there then; and the parameter that removing it leaves."""
    module, x = made(kind, options), tensor(T(*sizes, start=2))
    torch.manual_seed(17)
    getattr(torch.nn.utils.parametrizations, how)(module, name, **more)
    line = {"type": kind, "options": options, "input": sizes, "how": how, "name": name, "more": more, "begin": state(module)}
    output = lambda: next(tensors_of([module(x)]))
    line["train"] = [described(output(), False), described(output(), False)]
    loss([output()]).backward()
    line["grads"] = state(module, True)
    line["state"] = state(module)
    module.eval()
    line["eval"] = described(output(), False)
    torch.nn.utils.parametrize.remove_parametrizations(module, name)
    line["removed"] = described(getattr(module, name), False)
    return line


LINEAR = ("Linear", {"in_features": 5, "out_features": 4}, [3, 5])
CONV = ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 2}, [2, 3, 4, 4])
TRANSPOSED = ("ConvTranspose1d", {"in_channels": 3, "out_channels": 2, "kernel_size": 2}, [2, 3, 4])
LSTM = ("LSTM", {"input_size": 2, "hidden_size": 3}, [4, 2, 2])
PARAMETRIZED = [
    (*LINEAR, "weight_norm", "weight", {}), (*LINEAR, "weight_norm", "weight", {"dim": 1}),
    (*LINEAR, "weight_norm", "weight", {"dim": None}), (*CONV, "weight_norm", "weight", {}),
    (*LSTM, "weight_norm", "weight_hh_l0", {}),
    (*LINEAR, "spectral_norm", "weight", {}), (*LINEAR, "spectral_norm", "bias", {}),
    (*CONV, "spectral_norm", "weight", {"n_power_iterations": 3, "dim": 1, "eps": 1e-3}),
    (*TRANSPOSED, "spectral_norm", "weight", {}),
]


def recurrent(kind, options, order):
    """Of three sequences, packed, without and with a state before."""
    module = made(kind, {"input_size": 2, "hidden_size": 3, **options})
    sequences = [tensor(T(length, 2, start=length)) for length in (2, 4, 1)]
    sequences = sequences if order else sorted(sequences, key=len, reverse=True)
    packed = rnn.pack_sequence(sequences, enforce_sorted=not order)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    states = [tensor(T(rows, 3, size, start=start)) for start, size in ((1, options.get("proj_size", 3)), (2, 3))]
    states = tuple(states) if kind == "LSTM" else states[0]
    results = []
    for given in ((packed,), (packed, states)):
        output, after = module(*given)
        results.append([described(t, False) for t in [output.data, output.batch_sizes, output.sorted_indices,
                                                      output.unsorted_indices, *tensors_of([after])]])
    return {"type": kind, "options": options, "order": order, "results": results}


RECURRENT = [(kind, options, order) for kind in ("RNN", "LSTM", "GRU") for order in (False, True)
             for options in ({}, {"num_layers": 2, "bidirectional": True})] + [("LSTM", {"proj_size": 2, "bias": False}, True)]
