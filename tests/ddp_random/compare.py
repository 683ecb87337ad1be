"""Compares tandem::DistributedDataParallel with Python's on specifications drawn from seeds.

    compare.py stored PROGRAM                             those of reference.json.gz, with what Python gave for them
    compare.py python PROGRAM PYTHON FIRST END [BACKEND]  seeds FIRST to END - 1, with a Python that has torch beside it

The same values on every rank, or an error on both. PROGRAM is ddp_random_ranks; BACKEND is its group's.
"""
import gzip
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from specification import features, specification

FOLDER = pathlib.Path(__file__).parent.resolve()
REFERENCE = FOLDER / "reference.json.gz"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def tolerance(spec):
    """Relative, and absolute for values under 1: rounding of the dtypes that gradients travel in."""
    if spec["hook"] == "fp16":
        return 2e-3
    return 1e-5 if any(layer["kind"] == "single" for layer in spec["layers"]) else 1e-10


def outcomes(command, specs):
    with tempfile.TemporaryDirectory() as name:
        given, made = pathlib.Path(name) / "specifications.json", pathlib.Path(name) / "outcomes.json"
        given.write_text(json.dumps(specs))
        environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "TORCH_CPP_LOG_LEVEL": "ERROR"}
        subprocess.run([*command[:command.index(None)], given, made, *command[command.index(None) + 1:]], check=True,
                       env=environment)
        return json.loads(made.read_text())


def thaws(spec):
    """Whether a parameter that DDP has to exchange requires a gradient only later, in a step that is made."""
    made = max(spec["join"]["batches"]) if spec["join"] else spec["steps"]

    def exchanged(place):
        # Of a layer that has but one parameter, that may be ignored.
        return spec["layers"][place].get("bias") or f"layer{place}.weight" not in spec["ignores"]

    return any(event["requires_grad"] and event["step"] < made and exchanged(event["layer"])
               for event in spec["events"])


def difference(spec, ours, theirs):
    """What differs, in words; None where nothing does."""
    if "tensors" in theirs and thaws(spec):
        # Python trains such a parameter on each rank alone, and ranks drift apart.
        expected = "requires a gradient now, but did not when"
        if any(expected in error for error in ours.get("errors", []) if error):
            return None
        return "a frozen parameter thaws, and ours does not refuse it" + (
            f" but: {first_error(ours)}" if "errors" in ours else "")
    if "errors" in ours:
        crashed = [error for error in ours["errors"] if error and error.startswith("crashed")]
        if crashed or "errors" not in theirs:
            return f"ours: {first_error(ours)}; Python trains on"
        return None
    if "errors" in theirs:
        return f"ours trains on; Python: {first_error(theirs)}"
    limit = tolerance(spec)
    for rank, (a, b) in enumerate(zip(ours["tensors"], theirs["tensors"], strict=True)):
        if sorted(a) != sorted(b):
            return f"rank {rank} has {sorted(a)}, in Python {sorted(b)}"
        for name in a:
            for i, (x, y) in enumerate(zip(a[name], b[name], strict=True)):
                if not math.isfinite(x) or abs(x - y) > limit * max(1, abs(y)):
                    return f"rank {rank}, {name}[{i}]: ours {x!r}, Python {y!r}"
    return None


def first_error(outcome):
    return next(f"rank {rank}, {error.splitlines()[0][:200]}" for rank, error in enumerate(outcome["errors"]) if error)


def report(specs, ours, theirs):
    failed = 0
    for spec, a, b in zip(specs, ours, theirs, strict=True):
        found = difference(spec, a, b)
        if found:
            failed += 1
            print(f"seed {spec['seed']}: {found}\n    {', '.join(sorted(features(spec)))}")
    errors = sum("errors" in outcome for outcome in theirs)
    print(f"{len(specs)} models, {errors} of them errors with Python; {failed} differ")
    return 1 if failed else 0


def main(command, program, *rest):
    if command == "stored":
        stored = json.loads(gzip.decompress(REFERENCE.read_bytes()))
        specs, theirs = [case["specification"] for case in stored], [case["outcome"] for case in stored]
        if specs != [specification(spec["seed"]) for spec in specs]:
            sys.exit(f"specification.py draws something else now; reference.py make writes {REFERENCE.name} anew")
        missing = set().union(*map(features, map(specification, range(200)))) - set().union(*map(features, specs))
        if missing:
            sys.exit(f"{', '.join(sorted(missing))} in none of them; reference.py choose gives seeds that have all")
        return report(specs, outcomes([program, None], specs), theirs)
    python, first, end, *backend = rest
    if not os.access(python, os.X_OK):
        print(f"SKIPPED: no {python}, which script/bench installs; {int(end) - int(first)} models were not compared")
        return SKIPPED
    specs = [specification(seed) for seed in range(int(first), int(end))]
    if backend == ["shm"]:  # takes dense tensors alone
        specs = [spec for spec in specs if not any(layer.get("sparse") for layer in spec["layers"])]
    theirs = outcomes([python, "-B", FOLDER / "python_ranks.py", None], specs)
    return report(specs, outcomes([program, None, *backend], specs), theirs)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
