"""Writes trajectories.json, schedules.json and averages.json as Python's torch.optim, its schedulers and averages go, for
the tests beside this file.

    reference.py make FOLDER     needs torch 2.11; FOLDER is this file's own

Parameters and gradients are quotients of small whole numbers and powers of two, so that both sides begin with the same
bits. A line a case.
"""
import json
import os
import sys

STEPS = 20
# Of each kind of case, the sizes of its parameters.
SIZES = {"dense": [(2, 2), (3,)], "complex": [(2,)], "sparse": [(5, 2)], "matrices": [(3, 2), (2, 4)],
         "closure": [(2, 2), (3,)]}


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
    ("closure", "LBFGS", [{"max_iter": 4}, {"lr": 0.01, "max_iter": 3, "history_size": 2},
                          {"max_iter": 5, "max_eval": 3, "tolerance_grad": 0.01},
                          {"max_iter": 2, "line_search_fn": "strong_wolfe"},
                          {"lr": 0.5, "max_iter": 3, "history_size": 3, "line_search_fn": "strong_wolfe",
                           "tolerance_change": 1e-12}]),
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


def loss(parameters):
    """Rosenbrock's function of all numbers."""
    import torch
    x = torch.cat([parameter.reshape(-1) for parameter in parameters])
    return (10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def flat(name, value):
    """What is stored of a state, by name; lists are numbered. "al" is scratch of a step."""
    if isinstance(value, (list, tuple)):
        return {f"{name}.{i}": numbers(one) for i, one in enumerate(value)} if not name.endswith(".al") else {}
    if isinstance(value, float):  # a tensor of one would be float32
        return {name: [float(value)]}
    return {} if value is None else {name: numbers(value)}


def run(kind, name, options):
    import torch
    parameters = [made(torch, kind, sizes, lambda i, p=p: start(p, i)).requires_grad_()
                  for p, sizes in enumerate(SIZES[kind])]
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    plain = {} if name in ("SparseAdam", "Muon", "LBFGS") else {"foreach": False}
    optimizer = getattr(torch.optim, name)(parameters, **given, **plain)
    trajectory = []

    def closure():
        optimizer.zero_grad()
        computed = loss(parameters)
        computed.backward()
        return computed

    for step in range(STEPS):
        for p, parameter in enumerate(parameters if kind != "closure" else []):
            if missing(kind, p, step):
                parameter.grad = None
            elif kind == "sparse":
                values = made(torch, kind, (3, 2), lambda i, p=p: gradient(p, step, i))
                parameter.grad = torch.sparse_coo_tensor([rows(step)], values, parameter.shape)
            else:
                parameter.grad = made(torch, kind, parameter.shape, lambda i, p=p: gradient(p, step, i))
        optimizer.step(*([closure] if kind == "closure" else []))
        trajectory.append([x for parameter in parameters for x in numbers(parameter)])
    state = {}
    for p, parameter in enumerate(parameters):
        for key, value in optimizer.state[parameter].items():
            state.update(flat(f"{p}.{key}", value))
    return {"kind": kind, "type": name, "options": options, "steps": trajectory, "state": state}


# Schedulers of two groups, whose rates begin at RATES; the steps of a plateau's metric are metric(step).
RATES = [0.1, 0.02]
FUNCTIONS = [lambda epoch: 0.95 ** epoch, lambda epoch: 1 / (1 + epoch / 4)]
SCHEDULE_STEPS = 25
CYCLE = {"base_lr": 0.01, "max_lr": [0.1, 0.3], "step_size_up": 4}
PARTS = [{"type": "ConstantLR", "options": {"factor": 0.1, "total_iters": 3}},
         {"type": "ExponentialLR", "options": {"gamma": 0.9}}]


def metric(step):
    return ((step * 5) % 7 + 10 - step) / 8


SCHEDULES = [
    {"type": "LambdaLR"},
    {"type": "MultiplicativeLR"},
    {"type": "StepLR", "options": {"step_size": 3}},
    {"type": "StepLR", "options": {"step_size": 5, "gamma": 0.5, "last_epoch": 6}, "after": PARTS[0]},
    {"type": "MultiStepLR", "options": {"milestones": [3, 8, 8, 20], "gamma": 0.5}},
    {"type": "ConstantLR", "options": {}},
    {"type": "ConstantLR", "options": {"factor": 0.25, "total_iters": 12}},
    {"type": "LinearLR", "options": {}},
    {"type": "LinearLR", "options": {"start_factor": 1.0, "end_factor": 0.1, "total_iters": 20}},
    {"type": "ExponentialLR", "options": {"gamma": 0.9}},
    {"type": "PolynomialLR", "options": {}},
    {"type": "PolynomialLR", "options": {"total_iters": 20, "power": 2.5}},
    {"type": "CosineAnnealingLR", "options": {"T_max": 7}},
    {"type": "CosineAnnealingLR", "options": {"T_max": 30, "eta_min": 0.001}},
    {"type": "CosineAnnealingLR", "options": {"T_max": 9, "last_epoch": 4}, "after": PARTS[1]},
    {"type": "CosineAnnealingWarmRestarts", "options": {"T_0": 5}},
    {"type": "CosineAnnealingWarmRestarts", "options": {"T_0": 3, "T_mult": 2, "eta_min": 0.001}},
    {"type": "CosineAnnealingWarmRestarts", "options": {"T_0": 3, "T_mult": 2}, "fraction": 0.625},
    {"type": "CosineAnnealingWarmRestarts", "options": {"T_0": 3}, "fraction": 0.625},
    {"type": "CyclicLR", "options": CYCLE},
    {"type": "CyclicLR", "options": {**CYCLE, "mode": "triangular2", "step_size_down": 3}, "optimizer": "Adam"},
    {"type": "CyclicLR", "options": {**CYCLE, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False}},
    {"type": "CyclicLR", "options": {**CYCLE, "base_momentum": [0.5, 0.6], "max_momentum": [0.8, 0.7]},
     "after": PARTS[0]},
    {"type": "CyclicLR", "options": {**CYCLE, "scale_mode": "iterations"}, "scale": True},
    {"type": "OneCycleLR", "options": {"max_lr": [0.1, 0.3], "total_steps": 30}},
    {"type": "OneCycleLR", "options": {"max_lr": 0.2, "epochs": 5, "steps_per_epoch": 6, "anneal_strategy": "linear",
                                       "pct_start": 0.25}, "optimizer": "Adam"},
    {"type": "OneCycleLR", "options": {"max_lr": 0.2, "total_steps": 26, "three_phase": True, "div_factor": 10.0,
                                       "final_div_factor": 50.0, "base_momentum": 0.5, "max_momentum": [0.9, 0.8]}},
    {"type": "OneCycleLR", "options": {"max_lr": 0.2, "total_steps": 30, "cycle_momentum": False}},
    {"type": "ReduceLROnPlateau", "options": {"patience": 1, "factor": 0.5}},
    {"type": "ReduceLROnPlateau", "options": {"patience": 2, "factor": 0.5, "threshold_mode": "abs", "threshold": 0.5,
                                              "cooldown": 2, "min_lr": [0.03, 0.001]}},
    {"type": "ReduceLROnPlateau", "options": {"mode": "max", "patience": 0, "factor": 0.5, "threshold": 0.01,
                                              "min_lr": 0.001, "eps": 0.001}},
    {"type": "ReduceLROnPlateau", "options": {"mode": "max", "patience": 0, "threshold_mode": "abs", "factor": 0.9}},
    {"type": "SWALR", "options": {"swa_lr": [0.05, 0.001]}},
    {"type": "SWALR", "options": {"swa_lr": 0.05, "anneal_epochs": 4, "anneal_strategy": "linear"}},
    {"type": "SWALR", "options": {"swa_lr": 0.05, "anneal_epochs": 0}},
    {"type": "SequentialLR", "parts": PARTS, "milestones": [6]},
    {"type": "SequentialLR", "milestones": [4, 10, 18], "parts": [
        {"type": "LinearLR", "options": {"start_factor": 0.1, "total_iters": 4}},
        {"type": "CosineAnnealingLR", "options": {"T_max": 6}},
        {"type": "CosineAnnealingWarmRestarts", "options": {"T_0": 3, "T_mult": 2}},
        {"type": "StepLR", "options": {"step_size": 2, "gamma": 0.5}}]},
    {"type": "SequentialLR", "milestones": [3, 6, 9, 12, 15, 18], "parts": [
        {"type": "PolynomialLR", "options": {"total_iters": 4, "power": 0.5}},
        {"type": "MultiStepLR", "options": {"milestones": [0, 2], "gamma": 0.5}},
        {"type": "LinearLR", "options": {}},
        {"type": "ConstantLR", "options": {}},
        {"type": "PolynomialLR", "options": {"total_iters": 10}},
        {"type": "MultiplicativeLR"},
        {"type": "LambdaLR"}]},
    {"type": "SequentialLR", "milestones": [5], "parts": [
        {"type": "CyclicLR", "options": CYCLE},
        {"type": "OneCycleLR", "options": {"max_lr": 0.2, "total_steps": 30}}]},
    {"type": "SequentialLR", "milestones": [8], "parts": [
        {"type": "SequentialLR", "parts": PARTS, "milestones": [4]},
        {"type": "SWALR", "options": {"swa_lr": 0.05}}]},
    {"type": "SequentialLR", "milestones": [8], "parts": [
        {"type": "ChainedScheduler", "parts": PARTS}, {"type": "ExponentialLR", "options": {"gamma": 0.8}}]},
    {"type": "ChainedScheduler", "parts": PARTS},
    {"type": "ChainedScheduler", "parts": [
        {"type": "SequentialLR", "parts": PARTS, "milestones": [4]},
        {"type": "MultiStepLR", "options": {"milestones": [2, 9]}}]},
]


def scheduler_of(case, optimizer):
    from torch.optim import lr_scheduler, swa_utils
    name = case["type"]
    parts = [scheduler_of(part, optimizer) for part in case.get("parts", [])]
    if name == "SequentialLR":
        return lr_scheduler.SequentialLR(optimizer, parts, case["milestones"])
    if name == "ChainedScheduler":
        return lr_scheduler.ChainedScheduler(parts)
    if name in ("LambdaLR", "MultiplicativeLR"):
        return getattr(lr_scheduler, name)(optimizer, FUNCTIONS)
    options = dict(case["options"])
    if case.get("scale"):
        options["scale_fn"] = lambda x: 1 / (1 + x / 8)
    return getattr(swa_utils if name == "SWALR" else lr_scheduler, name)(optimizer, **options)


def plain(value):
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, float) and value in (float("inf"), -float("inf")) else value


def schedule(case, outside):
    """`outside`: the program changes a rate on the way itself."""
    import torch
    parameters = [torch.zeros(1, requires_grad=True) for _ in RATES]
    groups = [{"params": [one], "lr": rate} for one, rate in zip(parameters, RATES)]
    name = case.get("optimizer", "SGD")
    optimizer = getattr(torch.optim, name)(groups, **({"momentum": 0.9} if name == "SGD" else {}))
    if "after" in case:
        scheduler_of(case["after"], optimizer)
    scheduler = scheduler_of(case, optimizer)
    momentum = "betas" if name == "Adam" else "momentum"

    def row():
        momentums = [group[momentum] for group in optimizer.param_groups]
        return [group["lr"] for group in optimizer.param_groups] + [m[0] if name == "Adam" else m for m in momentums]

    rates = [row()]
    optimizer.step()
    for step in range(SCHEDULE_STEPS):
        if outside and step == 7:
            optimizer.param_groups[1]["lr"] = 0.0625
        if case["type"] == "ReduceLROnPlateau":
            scheduler.step(metric(step))
        elif "fraction" in case:
            scheduler.step(step * case["fraction"])
        else:
            scheduler.step()
        rates.append(row())
    return {**case, "outside": outside, "rates": rates, "state": plain(scheduler.state_dict())}


def average(kind, decay, use_buffers):
    """Ten updates of two parameters and two buffers."""
    import torch
    from torch.optim import swa_utils
    model = torch.nn.Module()
    model.a = torch.nn.Parameter(torch.zeros(2, 2, dtype=torch.double))
    model.b = torch.nn.Parameter(torch.zeros(2, dtype=torch.cdouble))
    model.register_buffer("c", torch.zeros(3, dtype=torch.double))
    # Python cannot average whole numbers in SWA.
    if not (kind == "swa" and use_buffers):
        model.register_buffer("d", torch.zeros((), dtype=torch.long))
    function = swa_utils.get_ema_multi_avg_fn(decay) if kind == "ema" else swa_utils.get_swa_multi_avg_fn()
    averaged = swa_utils.AveragedModel(model, multi_avg_fn=function, use_buffers=use_buffers)
    steps = []
    for step in range(10):
        with torch.no_grad():
            element = 0
            for tensor in (model.a, torch.view_as_real(model.b), model.c):
                for i in range(tensor.numel()):
                    tensor.view(-1)[i] = ((step * 5 + element * 3) % 7 - 2) / 4
                    element += 1
            if hasattr(model, "d"):
                model.d.fill_(step * 10)
        averaged.update_parameters(model)
        module = averaged.module
        steps.append(numbers(module.a) + numbers(module.b) + numbers(module.c) +
                     (numbers(module.d) if hasattr(module, "d") else [0]))
    return {"average": kind, "decay": decay, "use_buffers": use_buffers, "steps": steps}


def write(path, lines):
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines) + "\n]\n")


def make(folder):
    write(os.path.join(folder, "trajectories.json"),
          [run(kind, name, options) for kind, name, all_options in CASES for options in all_options])
    write(os.path.join(folder, "schedules.json"),
          [schedule(case, outside) for case in SCHEDULES for outside in (False, True)])
    write(os.path.join(folder, "averages.json"),
          [average("ema", 0.9, False), average("ema", 0.999, True), average("ema", 0.0, True),
           average("swa", 0.999, False), average("swa", 0.999, True)])


if __name__ == "__main__":
    {"make": make}[sys.argv[1]](sys.argv[2])
