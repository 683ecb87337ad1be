"""Writes trajectories.json as Python's torch.optim goes, for reference_test.cpp.

    reference.py make FOLDER     needs torch 2.11; FOLDER is this file's own

Parameters and gradients are quotients of small whole numbers and powers of two, so that both sides begin with the same
bits. A line a case.
"""
import json
import os
import sys

STEPS = 20
# Of each kind of case, the sizes of its parameters.
SIZES = {"dense": [(2, 2), (3,)], "complex": [(2,)], "sparse": [(5, 2)], "matrices": [(3, 2), (2, 4)]}


def start(parameter, element):
    return ((element * 3 + parameter) % 7 - 3) / 4 + 0.5


def gradient(parameter, step, element):
    return ((step * 7 + element * 5 + parameter * 3) % 11 - 5) / 8


def missing(kind, parameter, step):
    """The second parameter has no gradient in some steps."""
    return kind == "dense" and parameter == 1 and step % 6 == 3


def rows(step):
    """Of a sparse gradient; one twice."""
    return [step % 5, (2 * step + 1) % 5, step % 5]


CASES = [
    ("dense", "SGD", [{}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3},
                      {"lr": 0.1, "momentum": 0.9, "dampening": -0.5},
                      {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.1},
                      {"lr": 0.1, "momentum": 0.8, "maximize": True, "weight_decay": 0.1}]),
    ("dense", "Adam", [{}, {"lr": 0.1, "weight_decay": 0.1}, {"lr": 0.1, "amsgrad": True, "betas": [0.5, 0.6]},
                       {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
                       {"lr": 0.1, "maximize": True, "amsgrad": True, "weight_decay": 0.1, "eps": 0.01}]),
    ("dense", "AdamW", [{}, {"lr": 0.1, "weight_decay": 0.2, "amsgrad": True},
                        {"lr": 0.1, "maximize": True, "betas": [0.7, 0.8]}]),
    ("dense", "Adagrad", [{}, {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.1},
                          {"lr": 0.1, "weight_decay": 0.1, "maximize": True, "eps": 0.01}]),
    ("dense", "RMSprop", [{}, {"momentum": 0.9}, {"centered": True, "weight_decay": 0.1}, {"alpha": 0.5, "eps": 0.01},
                          {"momentum": 0.5, "centered": True, "maximize": True}]),
    ("dense", "Adadelta", [{}, {"lr": 0.5, "rho": 0.5, "weight_decay": 0.1}, {"maximize": True, "eps": 0.01}]),
    ("dense", "Adamax", [{}, {"lr": 0.1, "weight_decay": 0.1, "betas": [0.5, 0.6]}, {"maximize": True, "eps": 0.01}]),
    ("dense", "NAdam", [{}, {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1},
                        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
                        {"betas": [0.5, 0.6], "eps": 0.01}]),
    ("dense", "RAdam", [{}, {"lr": 0.1, "weight_decay": 0.1}, {"betas": [0.5, 0.6], "eps": 0.01},
                        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}]),
    ("dense", "ASGD", [{}, {"lr": 0.1, "t0": 5, "lambd": 0.1, "alpha": 0.5},
                       {"lr": 0.1, "t0": 0, "weight_decay": 0.1, "maximize": True}]),
    ("dense", "Rprop", [{}, {"lr": 0.1, "etas": [0.3, 1.5], "step_sizes": [0.01, 0.2]}, {"maximize": True}]),
    ("dense", "Adafactor", [{}, {"lr": 0.1, "weight_decay": 0.1, "d": 2.0},
                            {"beta2_decay": -0.5, "eps": [0.01, 0.1], "maximize": True}]),
    ("matrices", "Muon", [{}, {"lr": 0.1, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"},
                          {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.5, "ns_steps": 3, "adjust_lr_fn": "original",
                           "ns_coefficients": [2.0, -1.5, 0.5], "eps": 0.01}]),
    ("sparse", "SGD", [{"lr": 0.1}, {"lr": 0.1, "maximize": True}]),
    ("sparse", "Adagrad", [{"lr": 0.1}, {"lr": 0.1, "lr_decay": 0.1, "maximize": True}]),
    ("sparse", "SparseAdam", [{}, {"lr": 0.1, "betas": [0.5, 0.6], "eps": 0.01, "maximize": True}]),
    ("complex", "SGD", [{"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}]),
    ("complex", "Adam", [{"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}]),
    ("complex", "AdamW", [{"lr": 0.1}]),
    ("complex", "Adagrad", [{"lr": 0.1, "initial_accumulator_value": 0.5}]),
    ("complex", "RMSprop", [{"momentum": 0.5, "centered": True}]),
    ("complex", "Adadelta", [{"weight_decay": 0.1}]),
    ("complex", "Adamax", [{"weight_decay": 0.1}]),
    ("complex", "NAdam", [{"lr": 0.1}]),
    ("complex", "RAdam", [{"lr": 0.1}]),
    ("complex", "ASGD", [{"lr": 0.1, "t0": 5}]),
    ("complex", "Rprop", [{"lr": 0.1}]),
]


def count(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


def numbers(tensor):
    import torch
    tensor = torch.as_tensor(tensor).detach()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1).tolist()


def made(torch, kind, sizes, values):
    """A tensor of these sizes whose numbers are values(element); a complex one has two numbers an element."""
    if kind == "complex":
        both = torch.tensor([values(i) for i in range(2 * count(sizes))], dtype=torch.double)
        return torch.view_as_complex(both.reshape(*sizes, 2)).clone()
    return torch.tensor([values(i) for i in range(count(sizes))], dtype=torch.double).reshape(sizes)


def run(kind, name, options):
    import torch
    parameters = [made(torch, kind, sizes, lambda i, p=p: start(p, i)).requires_grad_()
                  for p, sizes in enumerate(SIZES[kind])]
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    plain = {} if name in ("SparseAdam", "Muon") else {"foreach": False}
    optimizer = getattr(torch.optim, name)(parameters, **given, **plain)
    trajectory = []
    for step in range(STEPS):
        for p, parameter in enumerate(parameters):
            if missing(kind, p, step):
                parameter.grad = None
            elif kind == "sparse":
                values = made(torch, kind, (3, 2), lambda i, p=p: gradient(p, step, i))
                parameter.grad = torch.sparse_coo_tensor([rows(step)], values, parameter.shape)
            else:
                parameter.grad = made(torch, kind, parameter.shape, lambda i, p=p: gradient(p, step, i))
        optimizer.step()
        trajectory.append([x for parameter in parameters for x in numbers(parameter)])
    state = {f"{p}.{key}": numbers(value) for p, parameter in enumerate(parameters)
             for key, value in optimizer.state[parameter].items() if value is not None}
    return {"kind": kind, "type": name, "options": options, "steps": trajectory, "state": state}


def write(path, lines):
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines) + "\n]\n")


def make(folder):
    write(os.path.join(folder, "trajectories.json"),
          [run(kind, name, options) for kind, name, all_options in CASES for options in all_options])


if __name__ == "__main__":
    {"make": make}[sys.argv[1]](sys.argv[2])
