"""Learns ratings with embeddings on parameter servers, as its user would: two servers and two trainers, then other numbers.

    paramserver.py --tandem TOOL --program PROGRAM

Asserts that more ratings are right in the end, that servers made one update a step or, asynchronously, one a push within the bound, that
a run goes on from a checkpoint with other numbers of servers and trainers, and that too few ranks are refused with what to do.
"""
import argparse
import pathlib
import sys
import tempfile

from launch import only, run

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as temporary:
    flags = ["--users", "200", "--items", "100", "--every", "25"]

    def train(ranks, *more, code=0):
        return run([options.tandem, "run", "-n", str(ranks), "--", options.program, *flags, *more], code=code)

    def right(text):
        return [float(found) for found in only(r"step \d+: ([\d.]+) % right", text)]

    saved = ["--checkpoints", pathlib.Path(temporary) / "saved"]
    text = train(4, "--servers", "2", "--steps", "100", *saved)
    before = right(text)
    if before[-1] < 75 or before[-1] < before[0] + 15:
        sys.exit(f"{before} % right")
    if only(r"server \d: (\d+) updates", text) != ["100", "100"]:
        sys.exit("servers made other updates than one a step")
    text = train(3, "--asynchronous", "--staleness", "1", "--steps", "25", *saved)
    after = right(text)
    if after[0] < before[-1] - 5:
        sys.exit(f"{after} % right after a checkpoint with {before}")
    only(r"step 125:", text)
    if only(r"server 0: (\d+) updates", text) != ["50"] or int(only(r"at most (\d+) steps ahead", text)[0]) > 1:
        sys.exit("the server made other updates than one a push, or the bound does not hold")
    only(r"start more: tandem run -n 3", train(2, "--servers", "2", code=1))
