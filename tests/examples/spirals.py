"""Trains spirals-java, as its user would, and in turns with Python where a torch is given.

    spirals.py --program PROGRAM --stored FILE.pt [--python PYTHON]
    spirals.py --make FILE.pt --python PYTHON      has Python train and store what --stored reads

Asserts that it learns; that a run in two parts ends with the bits of one; that it goes on from a file of Python's, to the losses
that Python came to; and that Python goes on from its files as it does itself.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

from launch import only, run

PYTHON_PROGRAM = pathlib.Path(__file__).parents[2] / "examples/java/spirals/spirals.py"
# Python's losses after --stored, which has 30 epochs: `--make` prints them.
STORED = {40: 0.050797, 50: 0.033407}

parser = argparse.ArgumentParser()
parser.add_argument("--program")
parser.add_argument("--stored")
parser.add_argument("--make")
parser.add_argument("--python")
options = parser.parse_args()


def train(program, file, epochs):
    """Losses, and accuracies, by epoch."""
    text = run([*program, "--file", file, "--epochs", str(epochs)])
    found = only(r"epoch (\d+): loss ([\d.]+), accuracy ([\d.]+) %, lr ([\d.]+)", text)
    return {int(epoch): (float(loss), float(accuracy), float(rate)) for epoch, loss, accuracy, rate in found}


def check_close(what, found, expected):
    if found.keys() != expected.keys() or any(
            abs(found[epoch][0] - expected[epoch][0]) > 2e-3 or found[epoch][2] != expected[epoch][2] for epoch in found):
        sys.exit(f"{what} gave {found}, not {expected}")


python = [options.python, "-B", PYTHON_PROGRAM] if options.python else None
if options.make:
    train(python, options.make, 30)
    with tempfile.TemporaryDirectory() as folder:
        print(train(python, shutil.copy(options.make, folder), 20))
    sys.exit()

java = [options.program]
with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    whole = train(java, folder / "whole.pt", 150)
    if whole[150][1] < 95:
        sys.exit(f"accuracies {whole}: 95 % was not reached")
    first = train(java, folder / "parts.pt", 60)
    half = shutil.copy(folder / "parts.pt", folder / "half.pt")
    if first | train(java, folder / "parts.pt", 90) != whole:
        sys.exit(f"two parts gave another training than {whole}")
    stored = shutil.copy(options.stored, folder / "stored.pt")
    again = train(java, stored, 20)
    if any(abs(again[epoch][0] - loss) > 2e-3 for epoch, loss in STORED.items()):
        sys.exit(f"going on from Python's file gave {again}, not {STORED}")
    if python:
        of_python = shutil.copy(half, folder / "python.pt")
        check_close("Python from Java's file", train(python, of_python, 20), train(java, half, 20))
        check_close("Java from Python's file", train(java, of_python, 10), train(java, half, 10))
    only(r"Missing required option: '--file=FILE.pt'", run(java, code=1))
    (folder / "text.pt").write_text("no weights")
    only(r"text\.pt", run([*java, "--file", folder / "text.pt"], code=1))
