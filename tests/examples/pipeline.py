"""Trains the transformer that is cut into stages on a small text, as its user would: 2 x 2 ranks, one pipeline, one process.

    pipeline.py --tandem TOOL --program PROGRAM --text SHARED

Asserts that bits per character fall, that they are the same however the model is cut and the batch divided, up to roundings
that grow, and that a number of ranks that makes no pipelines is refused with what to do.
"""
import argparse
import math
import pathlib
import sys
import tempfile

import texts
from launch import only, run

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--text", required=True)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as temporary:
    text = pathlib.Path(temporary) / "text"
    texts.write(text, 30_000, options.text)
    flags = ["--data", text, "--layers", "2", "--width", "32", "--length", "32", "--batch-size", "16", "--steps", "80", "--every", "20"]

    def train(ranks, *more, code=0):
        return run([options.tandem, "run", "-n", str(ranks), "--", options.program, *flags, *more], code=code)

    def bits(ranks, *more):
        return [float(found) for found in only(r"step \d+/80: ([\d.]+) bits per character", train(ranks, *more))]

    several = bits(4)
    if len(several) != 4 or several[-1] > several[0] - 1:
        sys.exit(f"bits per character {several}")
    for other in (bits(2, "--schedule", "gpipe"), bits(1, "--stages", "1")):
        if any(not math.isclose(a, b, rel_tol=2e-3) for a, b in zip(several, other, strict=True)):
            sys.exit(f"2 x 2 ranks gave {several}, others {other}")
    only(r"start a multiple of it: tandem run -n 4", train(3, code=1))
