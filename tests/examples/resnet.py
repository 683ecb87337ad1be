"""Trains ResNet-18 on small pictures that are drawn here, on one rank and on two, as its user would.

    resnet.py --tandem TOOL --program PROGRAM

Asserts that the classes are told apart, that ranks end with equal parameters, and that a run that goes on from a checkpoint ends
with the bits of one that never stopped.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

import stripes
from launch import only, run

TRAIN, TEST, EPOCHS, LEAST = 48, 12, 5, 85.0

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
options = parser.parse_args()


def train(ranks, *flags):
    """Accuracies of the epochs, and the hash of the parameters."""
    text = run([options.tandem, "run", "-n", str(ranks), "--", options.program, "--data", folder, "--size", "32", "--batch-size", "8",
                "--lr", "0.02", "--epochs", str(EPOCHS), *flags])
    found = only(r"epoch \d+/\d+: loss [\d.]+, test accuracy ([\d.]+) %, [\d.]+ pictures/s", text)
    return [float(one) for one in found], only(rf"parameters: (\S+), equal on all {ranks} ranks", text)[0]


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    stripes.record(options.tandem, folder, TRAIN, TEST)
    saves = folder / "run"
    accuracies, parameters = train(2, "--checkpoints", saves)
    if len(accuracies) != EPOCHS or accuracies[-1] < LEAST:
        sys.exit(f"accuracies {accuracies}: {LEAST} % was not reached")
    shutil.rmtree(sorted(saves.glob("step-*"))[-1])  # the newest checkpoint is lost: the one before counts
    resumed = train(2, "--checkpoints", saves)
    if resumed != (accuracies[-1:], parameters):
        sys.exit(f"going on gave {resumed}, not {accuracies[-1:]}, {parameters}")
    alone, _ = train(1, "--sync-bn", "--epochs", "2")
    if len(alone) != 2:
        sys.exit(f"accuracies {alone} of two epochs")
    only(r"--data FOLDER", run([options.program], code=1))
    run([options.tandem, "record", "write", __file__, "-o", folder / "train.recordio"])
    only(r"train.recordio does not say which classes it has; make it with tandem record import",
         run([options.tandem, "run", "-n", "1", "--", options.program, "--data", folder], code=1))
