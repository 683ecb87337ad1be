"""Fine-tunes a model that Python exported, on one rank and on two, and serves what came of it, as its user would.

    finetune.py --tandem TOOL --program PROGRAM --serve SERVER --exported FOLDER [--python PYTHON]

Asserts that the classes are told apart, that what is frozen keeps its bits, that ranks end with equal parameters, that a run
that goes on from a checkpoint ends with the bits of one that never stopped, that the archive and the last checkpoint give the
same results, and, where a Python with torch is given, that Python gets these from the archive too.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile

import stripes
from launch import only, run
from served import serving

TRAIN, TEST, EPOCHS, LEAST, SIZE = 48, 12, 4, 85.0, 32

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--serve", required=True)
parser.add_argument("--exported", type=pathlib.Path, required=True)
parser.add_argument("--python")
options = parser.parse_args()


def command(ranks, *flags):
    return [options.tandem, "run", "-n", str(ranks), "--", options.program, "--data", folder, "--model",
            options.exported / "train.pt2", "--batch-size", "8", "--lr", "0.05", "--epochs", str(EPOCHS), *flags]


def train(ranks, *flags):
    """Accuracies of the epochs, and the hash of the parameters."""
    text = run(command(ranks, "--eval", options.exported / "eval.pt2", *flags))
    found = only(r"epoch \d+/\d+: loss [\d.]+, test accuracy ([\d.]+) %, [\d.]+ pictures/s", text)
    return [float(one) for one in found], only(rf"parameters: (\S+), equal on all {ranks} ranks", text)[0]


def weights(path):
    """The bytes of each parameter and buffer of an archive."""
    with zipfile.ZipFile(path) as archive:
        top = archive.namelist()[0].split("/")[0]
        config = json.loads(archive.read(f"{top}/data/weights/model_weights_config.json"))["config"]
        return {name: archive.read(f"{top}/data/weights/{entry['path_name']}") for name, entry in config.items()}


def check_weights(path, prefix):
    before, after = weights(options.exported / path.name), weights(path)
    if before.keys() != after.keys():
        sys.exit(f"{path} has {sorted(after)}, not {sorted(before)}")
    buffers = ("running_mean", "running_var", "num_batches_tracked")
    for name, content in before.items():
        frozen = name.startswith(prefix) and not name.endswith(buffers)
        if (after[name] == content) != frozen:
            sys.exit(f"{name} of {path} {'changed' if frozen else 'is as it was'}")


def served(*flags):
    with serving(options.serve, *flags) as server:
        status, results = server.ask(pictures)
        if status != 200:
            sys.exit(f"status {status}: {results}")
        return results


PYTHON = """
import json, sys, torch
model = torch.export.load(sys.argv[1]).module()
print(json.dumps(model(torch.tensor(json.load(open(sys.argv[2])))).tolist()))
"""


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    stripes.record(options.tandem, folder, TRAIN, TEST)
    saves, tuned = folder / "run", folder / "tuned"
    accuracies, parameters = train(2, "--checkpoints", saves, "--output", tuned)
    if len(accuracies) != EPOCHS or accuracies[-1] < LEAST:
        sys.exit(f"accuracies {accuracies}: {LEAST} % was not reached")
    for name in ("train.pt2", "eval.pt2"):
        check_weights(tuned / name, "none of them")

    draw = random.Random(1)
    pictures = [[[[draw.random() for _ in range(SIZE)] for _ in range(SIZE)] for _ in range(3)] for _ in range(4)]
    results = served("--model", tuned / "eval.pt2")
    if served("--model", options.exported / "eval.pt2", "--checkpoints", saves) != results:
        sys.exit("the last checkpoint gives other results than the archive")
    if served("--model", options.exported / "eval.pt2") == results:
        sys.exit("training changed nothing")
    if options.python:
        (folder / "pictures.json").write_text(json.dumps(pictures))
        in_python = json.loads(subprocess.run([options.python, "-W", "ignore", "-c", PYTHON, tuned / "eval.pt2", folder / "pictures.json"],
                                              check=True, capture_output=True).stdout)
        if any(abs(a - b) > 1e-5 for one, other in zip(results, in_python, strict=True) for a, b in zip(one, other, strict=True)):
            sys.exit(f"Python gets {in_python}, not {results}")

    shutil.rmtree(sorted(saves.glob("step-*"))[-1])  # the newest checkpoint is lost: the one before counts
    resumed = train(2, "--checkpoints", saves)
    if resumed != (accuracies[-1:], parameters):
        sys.exit(f"going on gave {resumed}, not {accuracies[-1:]}, {parameters}")

    frozen = ("--freeze", "features.")
    train(1, *frozen, "--epochs", "2", "--output", folder / "head")
    check_weights(folder / "head" / "train.pt2", "features.")
    text = run(command(2, *frozen, "--epochs", "1", "--output", folder / "alone"))
    only(r"epoch 1/1: loss [\d.]+, [\d.]+ pictures/s", text)
    if (folder / "alone" / "eval.pt2").exists():
        sys.exit("an archive of a mode that was not given")

    only(r"no parameter's name begins so; the first is features.0.weight", run(command(1, "--freeze", "layer"), code=1))
    only(r"leaves no parameter to train", run(command(1, "--freeze", "f"), code=1))
    exported = options.exported / "eval.pt2"
    only(r"eval\.pt2.*has no training mode", run([options.program, "--data", folder, "--model", exported], code=1))
    only(r"--model.FILE\.pt2", run([options.program, "--data", folder], code=1))
