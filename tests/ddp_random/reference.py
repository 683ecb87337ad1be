"""What Python's DDP makes of the twenty specifications that are compared every day.

    reference.py make      writes reference.json.gz
    reference.py check     fails when it would write something else
    reference.py choose    prints seeds that cover what there is to cover

Run it with a Python that has torch of the pinned version (script/bench makes one: build/bench/venv).
"""
import gzip
import json
import os
import sys

from compare import REFERENCE, difference
from specification import features, specification

SEEDS = [0, 1, 2, 3, 4, 5, 11, 16, 18, 23, 24, 26, 43, 45, 47, 78, 89, 117, 142, 156]
CANDIDATES = range(200)


def stored():
    return json.loads(gzip.decompress(REFERENCE.read_bytes()))


def choose(count):
    """Seeds that together have every feature and kind of error, those that add most first."""
    ways = {seed: covers(specification(seed)) for seed in CANDIDATES}
    chosen, covered = [], set()
    while len(chosen) < count:
        best = max((seed for seed in CANDIDATES if seed not in chosen),
                   key=lambda seed: (len(ways[seed] - covered), "trains" in ways[seed], -seed))
        chosen.append(best)
        covered |= ways[best]
    return sorted(chosen), set().union(*ways.values()) - covered


def covers(spec):
    """Features count where the model trains, and else the kind of error."""
    outcome = python_ranks.run_one(spec)
    if "tensors" in outcome:
        return features(spec) | {"trains"}
    words = " ".join(error for error in outcome["errors"] if error)
    kinds = ("finished reduction in the prior", "sparse gradient to be defined", "ready only once", "graph has changed",
             "doesn't have any parameter", "same model across", "sizes of the same param", "strides of the same param",
             "exhausted")
    return {"error: " + kind for kind in kinds if kind in words}


def main(command):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    if command == "choose":
        chosen, missing = choose(20)
        print(f"SEEDS = {chosen}\nnot covered: {sorted(missing)}")
        return
    specs = [specification(seed) for seed in SEEDS]
    now = python_ranks.run(specs)
    cases = [{"specification": spec, "outcome": outcome} for spec, outcome in zip(specs, now, strict=True)]
    if command == "make":
        text = "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n"
        REFERENCE.write_bytes(gzip.compress(text.encode(), mtime=0))
        return
    before = stored()
    if [case["specification"] for case in before] != specs:
        sys.exit(f"{REFERENCE.name} has other specifications; reference.py make writes it anew")
    # Without events: what Tandem refuses is no matter of Python alone.
    changes = [(spec["seed"], difference(spec | {"events": []}, outcome, case["outcome"]))
               for spec, outcome, case in zip(specs, now, before, strict=True)]
    changes = [f"seed {seed}: {change}" for seed, change in changes if change]
    if changes:
        sys.exit("\n".join(changes) + f"\n(“ours” is Python now) {REFERENCE.name} is stale; "
                 "reference.py make writes it anew")


if __name__ == "__main__":
    import python_ranks
    main(*sys.argv[1:])
