"""Trains the character-level language model on a small text, on one rank and on two, as its user would.

    charlm.py --tandem TOOL --program PROGRAM --text SHARED

Asserts that bits per character fall, that every byte is read by one rank alone, that ranks end with equal parameters,
and that a run that goes on from a checkpoint, in the middle of an epoch too, ends with the bits of one that never stopped.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

import texts
from launch import only, run

SIZE, BATCH, LENGTH = 120_000, 8, 32
EPOCH = r"epoch \d+/\d+: ([\d.]+) bits per character, held out ([\d.]+), [1-9]\d* characters/s"

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--text", required=True)
options = parser.parse_args()


def parameters(text, ranks):
    return only(rf"parameters: (\S+), equal on all {ranks} ranks", text)[0]


def read(text):
    return [tuple(map(int, found)) for found in only(r"(\d+) of (\d+) bytes from (\d+) on were read, each by one rank alone", text)]


def leave_first(folder):
    """All but the oldest checkpoint is lost; without the file `latest` that one counts."""
    (folder / "latest").unlink()
    steps = sorted(folder.glob("step-*"))
    for step in steps[1:]:
        shutil.rmtree(step)
    return steps[0]


def check(model, ranks, folder):
    text = folder / "text"
    launch = [options.tandem, "run", "-n", str(ranks), "--", options.program, "--data", text, "--model", model,
              "--hidden", "64", "--batch-size", str(BATCH), "--length", str(LENGTH), "--sample", "80", "--epochs", "2"]
    saves = folder / f"{model}-{ranks}"
    through = run([*launch, "--checkpoints", saves, "--save-every", "70"])
    (first, first_held), (second, second_held) = [tuple(map(float, found)) for found in only(EPOCH, through)]
    if not 8 > first > second or not first_held > second_held or second_held > 3.6:
        sys.exit(f"bits per character {first}, {second}; held out {first_held}, {second_held}")
    row = ranks * BATCH * LENGTH
    parts = read(through)
    if any(bytes != whole for bytes, whole, _ in parts) or sum(bytes for bytes, *_ in parts) != SIZE // row * row:
        sys.exit(f"{parts} were read of {SIZE} bytes")
    only(r"written by the model:", through)

    left = leave_first(saves)
    middle = shutil.copytree(saves, folder / f"{saves.name}-middle")
    resumed = run([*launch, "--checkpoints", saves])
    if parameters(resumed, ranks) != parameters(through, ranks):
        sys.exit(f"what went on from {left.name} has other parameters")
    if not 0 < read(resumed)[0][0] < parts[0][0]:
        sys.exit(f"it read {read(resumed)}: it did not go on in the middle of an epoch")
    return launch, middle


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    texts.write(folder / "text", SIZE, options.text)
    check("lstm", 1, folder)
    launch, middle = check("mlstm", 2, folder)

    # One rank has other streams than two: it begins the epoch anew that they were in the middle of.
    launch[launch.index("-n") + 1] = "1"
    again = run([*launch, "--checkpoints", middle, "--replicas", "2"])
    only(r"epoch 2 begins at its start", again)
    if len(only(EPOCH, again)) != 1 or read(again)[0][0] != read(again)[0][1]:
        sys.exit("it did not train on the whole epoch")
    only(r"--data FILE", run([options.program], code=1))
    (folder / "short").write_bytes(b"short")
    only(r"short has 5 bytes; .* needs \d+", run([*launch, "--data", folder / "short"], code=1))
