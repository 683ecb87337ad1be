"""`data-parallel`: a training step by two replicas in one process, a thread each, against one thread alone."""
import math
import os
import subprocess
import tempfile

from . import measure, places, report

REPLICAS = 2
# Steps that are timed, after WARMUP.
STEPS = {"lstm": 20}
WARMUP = 5
CHECKED_STEPS = 3


def run(model, folder, replicas, warmup, steps, extra=()):
    command = places.tandem_run(1, places.program("bench-data-parallel"), "--model", model, "--data", folder,
                                "--batches", str(REPLICAS), "--replicas", str(replicas), "--warmup", str(warmup),
                                "--steps", str(steps), *extra)
    return measure.run(command, ranks=1)[0][0]


def check(model, folder, progress):
    """Both have the same losses, and the same parameters after a few steps."""
    saved = {replicas: os.path.join(folder, f"by-{replicas}.safetensors") for replicas in (1, REPLICAS)}
    losses = {replicas: run(model, folder, replicas, 0, CHECKED_STEPS, ("--save", path))["losses"]
              for replicas, path in saved.items()}
    for step, (one, several) in enumerate(zip(losses[1], losses[REPLICAS], strict=True)):
        if not math.isclose(one, several, rel_tol=1e-3):
            raise measure.BenchError(f"{model}: the loss at step {step} is {several}, that of one replica {one}")
    compared = subprocess.run([places.PYTHON, places.peer("compare.py"), *saved.values()], capture_output=True, text=True)
    if compared.returncode != 0:
        raise measure.BenchError(f"{model}: {compared.stdout}{compared.stderr}")
    progress(f"  {compared.stdout.strip()}")


def benchmark(rounds, progress, only=None):
    entries = []
    for model, steps in STEPS.items():
        if only and model not in only:
            continue
        progress(f" {model}")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([places.PYTHON, places.peer("prepare.py"), model, str(REPLICAS), folder], check=True)
            check(model, folder, progress)
            results = measure.alternate({
                "ours": lambda: run(model, folder, REPLICAS, WARMUP, steps)["step_ms"],
                "one-replica": lambda: run(model, folder, 1, WARMUP, steps)["step_ms"],
            }, rounds, progress)
        entry = report.entry(model, results["ours"], results["one-replica"], peer_name="one-replica", unit="ms/step",
                             ranks=1, threads=REPLICAS)
        progress(f"  {1 / entry['ratio']:.2f} times one replica")
        entries.append(entry)
    return entries
