"""Trains the Hogwild! example on digits, as its user would.

    hogwild.py --tandem TOOL --program PROGRAM --draw DRAW-DIGITS

Asserts that two processes that share parameters learn to tell digits as well as one alone, and that nobody waits for a process
that is killed, whose place another one takes.
"""
import argparse
import pathlib
import sys
import tempfile

from launch import killed_once, only, run

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--draw", required=True)
options = parser.parse_args()


def last(text, processes, epochs):
    """The accuracy that the process which ended last has seen."""
    lines = only(r"process (\d), epoch (\d)/\d: loss [\d.]+, test accuracy ([\d.]+) %", text)
    if sorted(int(rank) for rank, epoch, _ in lines if int(epoch) == epochs) != list(range(processes)):
        sys.exit(f"not all of {processes} processes have ended {epochs} epochs")
    return float(lines[-1][2])


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    run([options.draw, folder / "digits", "--train", "3000", "--test", "500"])
    program = [options.program, "--data", folder / "digits", "--output", folder, "--batch-size", "32", "--epochs"]
    shared = [options.tandem, "run", "-n", "2", "--shared-parameters"]
    alone = last(run([*program, "3"]), 1, 3)
    both = last(run([*shared, "--", *program, "3"]), 2, 3)
    if alone < 80 or both < alone - 5:
        sys.exit(f"two processes come to {both} %, one to {alone} %")
    text = killed_once([*shared, "--max-restarts", "1", "--", *program, "3"], "process 1, epoch 1/3")
    only(r"rank 1 .*was killed by SIGKILL \(signal 9\); another one takes its place", text)
    if len(only("process 0, epoch 1/3", text)) != 1 or last(text, 2, 3) < alone - 5:
        sys.exit("process 0 was disturbed by the end of process 1")
    if "tandem run --shared-parameters" not in run([options.tandem, "run", "-n", "2", "--", *program, "1"], code=1):
        sys.exit("it does not tell how processes get memory that they share")
