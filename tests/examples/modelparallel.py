"""Trains the network that is cut in two on digits that are drawn, as its user would: alone, and on two ranks under
DistributedDataParallel.

    modelparallel.py --tandem TOOL --program PROGRAM --draw DRAW-DIGITS

Asserts that it learns to tell digits, that all parameters and their gradients are where the flags say, also on a GPU where there
is one, and that devices that are none are refused with what to give.
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

from launch import only, run

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--draw", required=True)
options = parser.parse_args()


def check(text, devices):
    """The accuracy rose, and each half is on its device."""
    accuracies = [float(a) for a in only(r"epoch \d/2: loss [\d.]+, test accuracy ([\d.]+) %", text)]
    if len(accuracies) != 2 or accuracies[-1] < 80:
        sys.exit(f"accuracies {accuracies}")
    placed = re.findall(r"(front|back)\S*: on (\S+), its gradient on (\S+)", text)
    wanted = dict(zip(("front", "back"), devices))
    if len(placed) != 8 or any(here != wanted[half] or there != wanted[half] for half, here, there in placed):
        sys.exit(f"parameters are on {placed}, not on {devices}")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    run([options.draw, folder / "digits", "--train", "3000", "--test", "500"])
    flags = ["--data", folder / "digits", "--output", folder, "--epochs", "2", "--batch-size", "32"]
    check(run([options.program, *flags]), ("cpu", "cpu"))
    check(run([options.tandem, "run", "-n", "2", "--", options.program, *flags, "--devices", "cpu,cpu"]), ("cpu", "cpu"))
    if shutil.which("nvidia-smi"):
        check(run([options.program, *flags, "--devices", "cuda:0,cpu"]), ("cuda:0", "cpu"))
    else:
        print("SKIPPED on a GPU: this machine has none")
    if "cpu" not in run([options.program, *flags, "--devices", "cpu,gpu"], code=1):
        sys.exit("it does not tell what a device is")
