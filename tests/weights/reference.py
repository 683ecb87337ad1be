"""Models that Python's torch trained, for Go and Java to go on with, and what they trained for Python to go on with.

    reference.py make CHECKOUT     trains and writes go/nn/testdata/trained.pt, which the tests of Go and Java read
    reference.py check COMMAND...  runs a test, which writes such a file of its own into the folder that TANDEM_PT_FOLDER
                                   names, and goes on from it

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import torch

STEPS = 3


def make_model():
    return torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(16, 3))


# Of the last layer a group of its own.
def make_optimizer(model):
    parameters = list(model.parameters())
    return torch.optim.AdamW([{"params": parameters[:-2]}, {"params": parameters[-2:], "lr": 0.02}], lr=0.01)


def train(model, optimizer, file):
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(file["inputs"]), file["targets"]).backward()
        optimizer.step()


def evaluate(model, inputs):
    model.eval()
    with torch.no_grad():
        return model(inputs)


# A state dict as it is under DistributedDataParallel.
def wrapped(model):
    return {"module." + name: tensor.clone() for name, tensor in model.state_dict().items()}


def make(path):
    torch.manual_seed(1)
    model = make_model()
    optimizer = make_optimizer(model)
    file = {"inputs": torch.randn(5, 2, 4, 4), "targets": torch.randn(5, 3), "epoch": 1}
    train(model, optimizer, file)
    state = optimizer.state_dict()
    file |= {"model": wrapped(model), "optimizer": {"state": {key: {name: tensor.clone() for name, tensor in one.items()}
                                                              for key, one in state["state"].items()},
                                                    "param_groups": state["param_groups"]},
             "outputs": evaluate(model, file["inputs"])}
    train(model, optimizer, file)
    file |= {"next": wrapped(model), "next_outputs": evaluate(model, file["inputs"])}
    path.parent.mkdir(exist_ok=True)
    torch.save(file, path, _use_new_zipfile_serialization=False)


def expect_close(what, found, expected):
    if found.dtype != expected.dtype or not torch.allclose(found, expected, rtol=1e-4, atol=1e-5):
        sys.exit(f"{what} is {found}, and not {expected}")


def check(path):
    file = torch.load(path, weights_only=True)
    model = make_model()
    optimizer = make_optimizer(model)
    model.load_state_dict({name.removeprefix("module."): tensor for name, tensor in file["model"].items()})
    expect_close("the output", evaluate(model, file["inputs"]), file["outputs"])
    for group in optimizer.param_groups:
        group["lr"] = 7  # is loaded
    optimizer.load_state_dict(file["optimizer"])
    train(model, optimizer, file)
    for name, tensor in wrapped(model).items():
        expect_close(name, tensor, file["next"][name])
    expect_close("the output later", evaluate(model, file["inputs"]), file["next_outputs"])


def main(mode, *arguments):
    if mode == "make":
        return make(pathlib.Path(arguments[0]) / "go/nn/testdata/trained.pt")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(arguments, env={**os.environ, "TANDEM_PT_FOLDER": folder}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout)
        files = sorted(pathlib.Path(folder).glob("*.pt"))
        if not files:
            sys.exit(f"it wrote no file:\n{done.stdout}")
        for file in files:
            check(file)
            print(f"Python went on from {file.name}")


main(*sys.argv[1:])
