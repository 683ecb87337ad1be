"""Trains the MNIST example of one language on the real digits with two ranks, as its user would.

    mnist.py --tandem TOOL --program PROGRAM --data FOLDER [--epochs 5] [--accuracy 97]

Asserts that the accuracy is reached, that all ranks end with the same parameters, that both pictures are there, that the
program is a world of one without a launcher, and that what can be elastic goes on without a rank that is killed.
Exits 77 (a loud skip) where the digits are not on this machine.
"""
import argparse
import pathlib
import sys
import tempfile

from launch import killed_once, only, run


def check_png(path):
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n" or b"IEND" not in data[-16:] or len(data) < 2000:
        sys.exit(f"{path} is no complete picture")


parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--accuracy", type=float, default=97.0)
options = parser.parse_args()

if not (pathlib.Path(options.data) / "t10k-images-idx3-ubyte.gz").exists():
    print(f"SKIPPED: no MNIST digits in '{options.data}' (set TANDEM_TEST_DATA when configuring)")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    run([options.program, "--data", options.data, "--output", out / "alone", "--epochs", "1"])
    launch = [options.tandem, "run", "-n", "2", "--", options.program, "--data", options.data, "--seed", "1"]
    text = run([*launch, "--epochs", str(options.epochs), "--output", out / "a", "--checkpoints", out / "run"])
    accuracies = [float(a) for a in only(r"epoch \d+/\d+: loss [\d.]+, test accuracy ([\d.]+) ?%", text)]
    if len(accuracies) != options.epochs or max(accuracies) < options.accuracy:
        sys.exit(f"accuracies {accuracies}: {options.accuracy} % was not reached in {options.epochs} epochs")
    only(r"parameters: \S+, equal on all 2 ranks", text)
    check_png(out / "a/curve.png")
    check_png(out / "a/digits.png")

    # One more epoch from the newest checkpoint starts where the run ended, not from scratch.
    text = run([*launch, "--epochs", str(options.epochs + 1), "--output", out / "b", "--checkpoints", out / "run"])
    resumed = [float(a) for a in only(r"epoch \d+/\d+: loss [\d.]+, test accuracy ([\d.]+) ?%", text)]
    if len(resumed) != 1 or resumed[0] < options.accuracy - 1:
        sys.exit(f"resumed at epoch {options.epochs}, but the epochs gave {resumed}")

    if options.program.endswith("-java"):
        text = killed_once([options.tandem, "run", "-n", "2", "--", options.program, "--data", options.data, "--elastic",
                            "--batch-size", "64", "--epochs", "2", "--output", out / "c", "--checkpoints", out / "elastic"],
                           "epoch 1/2: loss")
        only(r"was killed by SIGKILL[\s\S]*now 1 rank, from step [1-9]", text)
        only(r"epoch 2/2: loss [\d.]+, test accuracy 9", text)
        only(r"parameters: \S+, equal on all 1 ranks", text)

        # Neither goes on from the other's checkpoints, nor takes steps for epochs.
        alone = [options.program, "--data", options.data, "--output", out / "a", "--epochs", "1"]
        only("elastic has checkpoints of a training with --elastic", run([*alone, "--checkpoints", out / "elastic"], code=1))
        only("give this one a folder of its own for checkpoints", run([*alone, "--elastic", "--checkpoints", out / "run"], code=1))
