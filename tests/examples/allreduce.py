"""Runs one language's allreduce example as its users do: ranks by hand over a file, and under the launcher.

    allreduce.py --tandem TOOL --program PROGRAM [--ranks 3]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--tandem", required=True)
parser.add_argument("--program", required=True)
parser.add_argument("--ranks", type=int, default=3)
options = parser.parse_args()


def check(lines, how):
    found = {(int(a), int(b)): float(c) for a, b, c in
             re.findall(rf"rank (\d+) of {options.ranks}: sum (\d+) is ([\d.]+)", lines)}
    expected = {(rank, i): i * options.ranks + sum(range(options.ranks))
                for rank in range(options.ranks) for i in range(10)}
    if found != expected:
        sys.exit(f"{how}: expected {expected}, the output was:\n{lines}")


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "meet"
    ranks = [subprocess.Popen([options.program, str(rank), str(options.ranks), str(file)], stdout=subprocess.PIPE,
                              text=True) for rank in range(options.ranks)]
    outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit(f"exit codes {[rank.returncode for rank in ranks]}")
    check("".join(outputs), "over a file")

done = subprocess.run([options.tandem, "run", "-n", str(options.ranks), options.program], stdout=subprocess.PIPE,
                      text=True, timeout=120)
if done.returncode:
    sys.exit(f"under tandem run: exit code {done.returncode}")
check(done.stdout, "under tandem run")

alone = subprocess.run([options.program, "0", "x"], stderr=subprocess.PIPE, text=True, timeout=120)
if alone.returncode != 1 or "usage" not in alone.stderr:
    sys.exit(f"wrong arguments: exit code {alone.returncode}, {alone.stderr}")
