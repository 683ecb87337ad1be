"""`train-step`: a training step in one process with one thread, against Python in eager mode."""
import math
import os
import subprocess
import tempfile

from . import ddp_step, measure, places, report

# What part of Python's time each may take.
LIMITS = {"mlp": 0.8, "cnn": 0.88, "lstm": 0.83, "resnet18": 0.92, "gpt10m": 0.95, "mlp-small": 0.75}
STEPS = {**ddp_step.STEPS, "gpt10m": 8, "mlp-small": 20_000}
WARMUP, CHECKED_STEPS = 5, 3
MOST_PROFILED = 500  # steps whose every operator the profiler keeps in memory


class Model:
    checked_steps = CHECKED_STEPS

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        subprocess.run([places.PYTHON, places.peer("prepare.py"), name, "1", folder], check=True)

    def run(self, side, warmup, steps, extra=()):
        """The programs of `ddp-step`, of one rank, started without a launcher and without DistributedDataParallel."""
        program = {"ours": [places.program("bench-ddp-step"), "--bare"],
                   "python": [places.PYTHON, places.peer("ddp_step.py")],
                   "kernels": [places.PYTHON, places.peer("kernels.py")]}[side]
        [values], _ = measure.run([*program, "--model", self.name, "--data", self.folder, "--exchange", "none",
                                   "--warmup", str(warmup), "--steps", str(steps), *extra],
                                  ranks=1, environment={"RANK": "0", "WORLD_SIZE": "1"})
        return values

    def check(self, progress):
        """Both sides have the same losses, and the same parameters after a few steps."""
        saved = {side: os.path.join(self.folder, side + ".safetensors") for side in ("ours", "python")}
        losses = {side: self.run(side, 0, self.checked_steps, ("--save", path))["losses"] for side, path in saved.items()}
        for step, (a, b) in enumerate(zip(losses["ours"], losses["python"], strict=True)):
            if not math.isclose(a, b, rel_tol=1e-3):
                raise measure.BenchError(f"{self.name}: the loss at step {step} is {a}, Python's {b}")
        compared = subprocess.run([places.PYTHON, places.peer("compare.py"), saved["ours"], saved["python"]],
                                  capture_output=True, text=True)
        if compared.returncode != 0:
            raise measure.BenchError(f"{self.name}: {compared.stdout}{compared.stderr}")
        progress(f"  {compared.stdout.strip()}")

    def step_ms(self, side):
        return self.run(side, WARMUP, STEPS[self.name])["step_ms"]

    def kernels_ms(self):
        """What Python's profiler finds of its step in the kernels of LibTorch that both sides call."""
        return self.run("kernels", WARMUP, min(STEPS[self.name], MOST_PROFILED))["kernels_ms"]


def tell_limit(entry, limit, whose, progress):
    held = "" if entry["ratio"] <= limit else ": MISSED"
    progress(f"  {entry['ratio']:.3f} of {whose} time, at most {limit} wanted{held}")


def benchmark(rounds, progress, only=None):
    entries = []
    for name, limit in LIMITS.items():
        if only and name not in only:
            continue
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            model = Model(name, folder)
            model.check(progress)
            results = measure.alternate({**{side: lambda side=side: model.step_ms(side) for side in ("ours", "python")},
                                         "kernels": model.kernels_ms}, rounds, progress)
        entry = report.entry(name, results["ours"], results["python"], peer_name="python", unit="ms/step", ranks=1, threads=1)
        tell_limit(entry, limit, "Python's", progress)
        kernels = report.entry(f"{name}-kernels", results["kernels"], results["python"], peer_name="python", unit="ms/step", ranks=1, threads=1)
        progress(f"  the kernels that both call take {kernels['ratio']:.3f} of it in Python, profiled")
        entries += [entry, kernels]
    return entries
