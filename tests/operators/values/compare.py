"""Compares two programs' results of the same cases: compare.py UNBOXED OTHER CASES

Cases that fail in both do not count; recipes.py names them.
"""
import math
import pathlib
import subprocess
import sys
import tempfile

from recipes import NO_CASE, SHAPES_ONLY


def results(program, cases, folder):
    path = pathlib.Path(folder) / pathlib.Path(program).name
    subprocess.run([program, cases, path], check=True, stderr=subprocess.DEVNULL)
    blocks = path.read_text(encoding="utf-8").split("case ")[1:]
    return {key: lines.splitlines() for key, _, lines in (block.partition("\n") for block in blocks)}


def near(want, have):
    w, h = float(want), float(have)
    if math.isnan(w) or math.isinf(w):
        return math.isnan(w) and math.isnan(h) or w == h
    return abs(w - h) <= 1e-6 + 1e-5 * abs(w)


def agree(want, have, shapes_only):
    if len(want) != len(have):
        return False
    for w, h in zip(want, have):
        w, _, w_elements = w.partition(":")
        h, _, h_elements = h.partition(":")
        if w != h:
            return False
        w_elements, h_elements = w_elements.split(), h_elements.split()
        if not shapes_only and (len(w_elements) != len(h_elements) or not all(map(near, w_elements, h_elements))):
            return False
    return True


with tempfile.TemporaryDirectory() as folder:
    wanted, had = (results(program, sys.argv[3], folder) for program in sys.argv[1:3])
good, problems = 0, []
for key, want in wanted.items():
    have = had.get(key, ["nothing"])
    if want[:1] and want[0].startswith("error "):
        if key not in NO_CASE or not have[0].startswith("error "):
            problems.append(f"{key}: unboxed {want[0]:.200}, now {have[0]:.200}")
    elif agree(want, have, key in SHAPES_ONLY):
        good += 1
    else:
        problems.append(f"{key}: unboxed {str(want):.300}, now {str(have):.300}")
print(f"{good} of {len(wanted)} agree with the unboxed call: {100 * good / len(wanted):.1f} %")
if problems or good < 0.9 * len(wanted):
    sys.exit("\n".join(problems) or "that is under 90 %")
