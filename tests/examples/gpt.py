"""Trains the small GPT on a small text, on one rank and on two, as its user would.

    gpt.py --tandem TOOL --program PROGRAM --text SHARED

Asserts that bits per character fall, for the averaged weights too, in float32 and bfloat16; that the learning rate is that of
the warm-up and the cosine; that two ranks compute what one does that accumulates two batches; that ranks end with equal
parameters; and that a run that goes on from a checkpoint ends with the bits of one that never stopped, dropout and all.
"""
import argparse
import math
import pathlib
import shutil
import sys
import tempfile

import texts
from launch import only, run

STEPS, WARMUP, EVERY, LR = 240, 20, 80, 2e-3
REPORT = (r"step (\d+)/\d+: ([\d.]+) bits per character, held out ([\d.]+), by averaged weights ([\d.]+); lr ([\d.e-]+), "
          r"[1-9]\d* characters/s")

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--text", required=True)
options = parser.parse_args()


def train(ranks, *flags):
    """The reports, and the hash of the parameters."""
    output = run([options.tandem, "run", "-n", str(ranks), "--", options.program, "--data", folder / "text", "--layers", "2",
                  "--width", "64", "--length", "32", "--batch-size", "8", "--steps", str(STEPS), "--warmup", str(WARMUP),
                  "--every", str(EVERY), "--lr", str(LR), "--sample", "40", *flags])
    only("written by the model:", output)
    return ([[float(number) for number in found] for found in only(REPORT, output)],
            only(rf"parameters: (\S+), equal on all {ranks} ranks", output)[0])


def check_falls(reports):
    """Whether it learned more than how often each byte comes, which costs 4.7 bits of English."""
    _, bits, held_out, averaged, _ = zip(*reports)
    if len(reports) != STEPS // EVERY or not 8 > bits[0] > bits[-1] or held_out[-1] > 4.3 or averaged[-1] > averaged[0]:
        sys.exit(f"bits per character {bits}, held out {held_out}, averaged {averaged}")


def check_rates(reports):
    for step, *_, rate in reports:
        along = (step - WARMUP) / (STEPS - WARMUP)
        wanted = LR * (0.1 + 0.9 * (1 + math.cos(math.pi * along)) / 2)
        if not math.isclose(rate, wanted, rel_tol=5e-3):
            sys.exit(f"the learning rate after step {step} is {rate}, not {wanted}")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    texts.write(folder / "text", 60_000, options.text)
    saves = folder / "run"
    through, parameters = train(2, "--bf16", "--checkpoints", saves)
    check_falls(through)
    check_rates(through)
    (saves / "latest").unlink()  # all but the oldest checkpoint is lost; without this file that one counts
    for step in sorted(saves.glob("step-*"))[1:]:
        shutil.rmtree(step)
    resumed = train(2, "--bf16", "--checkpoints", saves)
    if resumed != (through[1:], parameters):
        sys.exit(f"going on gave {resumed}, not {through[1:]}, {parameters}")

    exact = ("--dropout", "0")
    two, _ = train(2, *exact)
    check_falls(two)
    one, _ = train(1, *exact, "--accumulate", "2")
    # The first report, before roundings that grow.
    if any(not math.isclose(a, b, abs_tol=5e-3) for a, b in zip(two[0], one[0], strict=True)):
        sys.exit(f"two ranks gave {two[0]}, one that accumulates {one[0]}")
    only(r"--data FILE", run([options.program], code=1))
