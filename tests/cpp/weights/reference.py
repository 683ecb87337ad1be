"""Files that Python's torch wrote, for the tests of this folder, and what Python makes of files that Tandem wrote.

    reference.py make FOLDER         writes what is in files/ (torch 2.11)
    reference.py check CPP_WEIGHTS   runs that program, whose tests named FilesForPython write into the folder that
                                     TANDEM_PT_FOLDER names, loads their files with weights_only=True, and compares

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv).
"""
import collections
import copy
import io
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import zipfile

import torch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex32",
          "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz",
          "float8_e4m3fnuz", "float8_e8m0fnu"]


def counted(*shape, dtype=torch.float32):
    count = 1
    for size in shape:
        count *= size
    return torch.arange(count, dtype=torch.float64).to(dtype).reshape(shape)


# The bytes 0, 1, 2, … seen as three elements; of bool 0, 1, 0.
def patterned(name):
    dtype = getattr(torch, name)
    if name == "bool":
        return torch.tensor([False, True, False])
    width = torch.empty(0, dtype=dtype).element_size()
    return torch.arange(3 * width, dtype=torch.uint8).view(dtype)


def state_dict():
    state = collections.OrderedDict()
    state["0.weight"] = counted(2, 3)
    state["0.bias"] = counted(2) + 0.5
    state["1.num_batches_tracked"] = torch.tensor(7)
    state._metadata = collections.OrderedDict([("", {"version": 1})])
    return state


def all_dtypes():
    return {name: patterned(name) for name in DTYPES}


def layouts():
    base = counted(24)
    return {"base": base, "row": base[6:12], "column": base.view(4, 6)[:, 2], "transposed": base.view(4, 6).t(),
            "expanded": base[3:4].expand(5), "empty": torch.empty(0, 3), "scalar": torch.tensor(2.5),
            "own": counted(2, 2).t().contiguous(), "channels_last": counted(1, 2, 2, 2).to(memory_format=torch.channels_last)}


def parameters():
    plain = torch.nn.Parameter(counted(3))
    frozen = torch.nn.Parameter(counted(2), requires_grad=False)
    marked = torch.nn.Parameter(counted(2))
    marked.note = "kept by Python"
    return {"plain": plain, "frozen": frozen, "marked": marked, "tied": plain, "needs_grad": counted(2).requires_grad_(),
            "conjugate": torch.tensor([1 + 2j, 3 - 1j]).conj()}


def optimizer():
    first, second = torch.nn.Parameter(counted(2, 2)), torch.nn.Parameter(counted(2))
    adam = torch.optim.Adam([{"params": [first]}, {"params": [second], "lr": 0.01}], lr=0.1, foreach=False)
    for _ in range(2):
        adam.zero_grad()
        ((first * first).sum() + (second * 3).sum()).backward()
        adam.step()
    return {"model": collections.OrderedDict([("first", first.detach()), ("second", second.detach())]),
            "optimizer": adam.state_dict(), "epoch": 3, "loss": 0.25}


# Each optimizer with options that give it all the state it can have.
OPTIMIZERS = {"Adadelta": {}, "Adafactor": {"eps": (None, 1e-3)}, "Adagrad": {"initial_accumulator_value": 0.5, "lr_decay": 0.1},
              "Adam": {"amsgrad": True, "betas": (0.8, 0.99)}, "AdamW": {"weight_decay": 0.1}, "Adamax": {}, "ASGD": {"t0": 1, "lambd": 0.1},
              "Muon": {}, "NAdam": {"decoupled_weight_decay": True}, "RAdam": {},
              "RMSprop": {"momentum": 0.9, "centered": True}, "Rprop": {"etas": (0.4, 1.5)},
              "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, "SparseAdam": {}}


def optimizer_of(name, parameters):
    first, second, third = parameters
    return getattr(torch.optim, name)([{"params": [first, third]}, {"params": [second], "lr": 0.02}], lr=0.05, **OPTIMIZERS[name])


def set_gradients(name, parameters, step):
    for i, one in enumerate(parameters[:2]):  # the third has none
        gradient = torch.sin(counted(2, 3, dtype=torch.float64) * (i + 1) + step)
        one.grad = gradient.to_sparse() if name == "SparseAdam" else gradient


# What each has after two steps, and what its next makes of the parameters.
def optimizers():
    made = {}
    for name in OPTIMIZERS:
        parameters = [torch.nn.Parameter(torch.cos(counted(2, 3, dtype=torch.float64) + i)) for i in range(3)]
        optimizer = optimizer_of(name, parameters)
        for step in range(2):
            set_gradients(name, parameters, step)
            optimizer.step()
        before, state = [one.detach().clone() for one in parameters], copy.deepcopy(optimizer.state_dict())
        set_gradients(name, parameters, 2)
        optimizer.step()
        made[name] = {"before": before, "state_dict": state, "after": [one.detach().clone() for one in parameters],
                      "gradients": [one.grad.to_dense() for one in parameters[:2]]}
    return made


def check_optimizers(found):
    for name in OPTIMIZERS:
        parameters = [torch.nn.Parameter(one.clone()) for one in found[name]["before"]]
        optimizer = optimizer_of(name, parameters)
        want = [(sorted(group), group["params"]) for group in optimizer.state_dict()["param_groups"]]
        for group in optimizer.param_groups:
            group["lr"] = 7  # is loaded
        optimizer.load_state_dict(found[name]["state_dict"])
        got = [(sorted(group), group["params"]) for group in optimizer.state_dict()["param_groups"]]
        if got != want:
            sys.exit(f"{name}: groups have {got}, and not {want}")
        set_gradients(name, parameters, 2)
        optimizer.step()
        for one, expected in zip(parameters, found[name]["after"]):
            if not torch.allclose(one, expected, rtol=0, atol=1e-3 if name == "Muon" else 1e-7):
                sys.exit(f"{name}: a step from Tandem's state gives {one}, and there {expected}")


# LBFGS looks at all parameters together and wants a closure.
def lbfgs_of(search, values):
    parameters = [torch.nn.Parameter(one.clone()) for one in values]
    optimizer = torch.optim.LBFGS(parameters, lr=0.5, max_iter=4, history_size=3, line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        first, second = parameters
        loss = ((first - 1) ** 4).sum() + (second ** 2).sum() + (first.sum() * second.sum()) ** 2 / 10
        loss.backward()
        return loss

    return parameters, optimizer, closure


def lbfgs():
    made = {}
    for search in (None, "strong_wolfe"):
        for steps in range(3):
            values = [torch.cos(counted(3, dtype=torch.float64)), torch.sin(counted(2, 2, dtype=torch.float64))]
            parameters, optimizer, closure = lbfgs_of(search, values)
            if steps == 1:
                optimizer.param_groups[0]["max_iter"] = 1  # of which no history is left
            for _ in range(steps):
                optimizer.step(closure)
            before, state = [one.detach().clone() for one in parameters], copy.deepcopy(optimizer.state_dict())
            optimizer.step(closure)
            made[f"{search} {steps}"] = {"search": search, "before": before, "state_dict": state,
                                         "after": [one.detach().clone() for one in parameters]}
    return made


def check_lbfgs(found):
    if sorted(found) != sorted(lbfgs()):
        sys.exit(f"states of LBFGS: {sorted(found)}")
    for name, one in found.items():
        parameters, optimizer, closure = lbfgs_of(one["search"], one["before"])
        optimizer.load_state_dict(one["state_dict"])
        optimizer.step(closure)
        for got, expected in zip(parameters, one["after"]):
            if not torch.allclose(got, expected, rtol=1e-10, atol=1e-12):
                sys.exit(f"LBFGS {name}: a step from Tandem's state gives {got}, and there {expected}")


def values():
    return {"none": None, "yes": True, "no": False, "small": 5, "medium": 70000, "negative": -3, "large": 2**40,
            "least": -2**63, "real": 1.5, "complex": 1 - 2j, "text": "Grüße", "bytes": b"\x00\xff", "array": bytearray(b"ab"),
            "list": [1, [2, []]], "tuple": (1,), "four": (1, 2, 3, 4), "nothing": (), "set": {4}, "size": torch.Size([2, 3]),
            "device": torch.device("cuda", 1), "dtype": torch.bfloat16, 3: "three", "storage": counted(2).untyped_storage()}


class Global:
    """Pickles as a call of what may be anything."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


# A zip as torch.save writes it, with a pickle of one's own.
def with_pickle(data):
    out = io.BytesIO()
    torch.save({}, out)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(out.getvalue())) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name), data if name.endswith("data.pkl") else source.read(name))
    return made.getvalue()


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, value, **options):
        torch.save(value, folder / name, **options)

    for name, value in {"state_dict": state_dict(), "layouts": layouts(), "parameters": parameters(),
                        "optimizer": optimizer(), "values": values()}.items():
        save(f"{name}.pt", value)
        save(f"{name}.legacy.pt", value, _use_new_zipfile_serialization=False)
    save("dtypes.pt", all_dtypes())
    save("dtypes.legacy.pt", all_dtypes(), _use_new_zipfile_serialization=False)
    for protocol in (3, 4, 5):
        save(f"protocol{protocol}.pt", values(), pickle_protocol=protocol)
    save("optimizers.pt", optimizers(), _use_new_zipfile_serialization=False)
    save("lbfgs.pt", lbfgs(), _use_new_zipfile_serialization=False)
    save("protocol4.legacy.pt", state_dict(), pickle_protocol=4, _use_new_zipfile_serialization=False)
    torch.serialization.set_crc32_options(False)
    save("no_crc.pt", state_dict())
    torch.serialization.set_crc32_options(True)
    save("module.pt", torch.nn.Linear(1, 1))
    save("sparse.pt", {"a": torch.eye(2).to_sparse()})
    for name, harm in {"system": Global(os.system, "true"), "eval": Global(eval, "1"),
                       "getattr": Global(getattr, "a", "upper")}.items():
        (folder / f"evil_{name}.pt").write_bytes(with_pickle(pickle.dumps({"weight": harm}, protocol=2)))
    (folder / "evil_protocol4.pt").write_bytes(with_pickle(pickle.dumps([Global(os.system, "true")], protocol=4)))


def same(name, found, expected):
    if isinstance(expected, torch.Tensor):
        good = (isinstance(found, torch.Tensor) and found.dtype == expected.dtype and found.shape == expected.shape and
                found.stride() == expected.stride() and found.requires_grad == expected.requires_grad and
                type(found) is type(expected) and
                found.detach().resolve_conj().contiguous().view(torch.uint8 if found.dim() else found.dtype).tolist() ==
                expected.detach().resolve_conj().contiguous().view(torch.uint8 if found.dim() else found.dtype).tolist())
    elif isinstance(expected, dict):
        good = isinstance(found, dict) and list(found) == list(expected)
        for key in expected if good else ():
            same(f"{name}.{key}", found[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        good = type(found) is type(expected) and len(found) == len(expected)
        for i in range(len(expected) if good else 0):
            same(f"{name}[{i}]", found[i], expected[i])
    else:
        good = type(found) is type(expected) and found == expected
    if not good:
        sys.exit(f"{name}: {found!r}, and not {expected!r}")


def check(folder):
    def load(name):
        return torch.load(folder / name, weights_only=True)

    for name, expected in {"state_dict": state_dict(), "dtypes": all_dtypes(), "layouts": layouts(),
                           "optimizer": optimizer()}.items():
        same(name, load(f"{name}.pt"), expected)
    found, expected = load("parameters.pt"), parameters()
    del expected["marked"], found["marked"], expected["conjugate"], found["conjugate"]
    same("parameters", found, expected)
    found, expected = load("values.pt"), values()
    expected["size"] = tuple(expected["size"])  # as it reads
    expected["array"] = bytes(expected["array"])
    expected["storage"] = counted(2).view(torch.uint8)
    same("values", found, expected)
    shared = load("layouts.pt")
    shared["base"].fill_(9)
    for name in ("row", "column", "transposed", "expanded"):
        if not bool((shared[name] == 9).all()):
            sys.exit(f"layouts: {name} no longer shares its storage")
    linear = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    linear.load_state_dict(load("state_dict.pt"), strict=False)
    adam = torch.optim.Adam([{"params": [torch.nn.Parameter(counted(2, 2))]}, {"params": [torch.nn.Parameter(counted(2))]}])
    adam.load_state_dict(load("optimizer.pt")["optimizer"])
    check_optimizers(load("optimizers.pt"))
    check_lbfgs(load("lbfgs.pt"))
    with zipfile.ZipFile(folder / "layouts.pt") as archive:
        if archive.testzip() is not None:
            sys.exit("a member of layouts.pt does not have its checksum")
    print("Python loads what Tandem wrote")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.argv[2], "--gtest_filter=*.FilesForPython"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "TANDEM_PT_FOLDER": made})
            check(pathlib.Path(made))
