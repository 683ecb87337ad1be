"""Trains the language model whose parts are on two workers on a small text, as its user would, and on one worker.

    rnn.py --tandem TOOL --program PROGRAM --text SHARED

Asserts that bits per character fall, that they are the same with one worker, and that calls were made.
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
    flags = ["--data", text, "--width", "32", "--length", "16", "--batch-size", "8", "--steps", "60", "--every", "15"]

    def bits(workers):
        said = run([options.tandem, "run", "-n", str(workers), "--", options.program, *flags])
        only(rf"(\d+) calls of worker{workers - 1}", said)
        return [float(found) for found in only(r"step \d+/60: ([\d.]+) bits per character", said)]

    two, one = bits(2), bits(1)
    if len(two) != 4 or two[-1] > two[0] - 1:
        sys.exit(f"bits per character {two}")
    if any(not math.isclose(a, b, rel_tol=2e-3) for a, b in zip(two, one, strict=True)):
        sys.exit(f"two workers gave {two}, one {one}")
