"""`ddp-step`: a training step under DistributedDataParallel on two ranks, and what the exchange in it costs."""
import math
import os
import subprocess
import tempfile

from . import measure, places, report

RANKS = 2
# Steps that are timed, after WARMUP: a few seconds a run.
STEPS = {"mlp": 200, "cnn": 40, "lstm": 20, "resnet18": 16}
WARMUP = 5
CHECKED_STEPS = 3


class Model:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        subprocess.run([places.PYTHON, places.peer("prepare.py"), name, str(RANKS), folder], check=True)

    def arguments(self, exchange, warmup, steps):
        return ["--model", self.name, "--data", self.folder, "--exchange", exchange, "--warmup", str(warmup),
                "--steps", str(steps)]

    def ours(self, *arguments, extra=()):
        command = places.tandem_run(RANKS, places.program("bench-ddp-step"), *self.arguments(*arguments), *extra)
        return measure.run(command, ranks=RANKS)[0]

    def peer(self, *arguments, extra=()):
        command = places.torchrun(RANKS, places.peer("ddp_step.py"), *self.arguments(*arguments), *extra)
        return measure.run(command, ranks=RANKS)[0]

    def check(self, progress):
        """Both sides see the same losses, and have the same parameters after a few steps."""
        saved = {side: os.path.join(self.folder, side + ".safetensors") for side in ("ours", "peer")}
        for exchange, peers in (("gloo", "gloo"), ("shm", "gloo"), ("none", "none")):
            losses = {}
            for side, run in (("ours", self.ours), ("peer", self.peer)):
                losses[side] = [values["losses"] for values in
                                run(exchange if side == "ours" else peers, CHECKED_STEPS, 0,
                                    extra=("--save", saved[side]))]
            for rank in range(RANKS):
                for step, (a, b) in enumerate(zip(losses["ours"][rank], losses["peer"][rank], strict=True)):
                    if not math.isclose(a, b, rel_tol=1e-3):
                        raise measure.BenchError(f"{self.name}, exchange {exchange}: loss of rank {rank} at step {step} "
                                                 f"is {a}, the peer's {b}")
            compared = subprocess.run([places.PYTHON, places.peer("compare.py"), saved["ours"], saved["peer"]],
                                      capture_output=True, text=True)
            if compared.returncode != 0:
                raise measure.BenchError(f"{self.name}, exchange {exchange}: {compared.stdout}{compared.stderr}")
            progress(f"  exchange {exchange}: {compared.stdout.strip()}")

    def step_ms(self, run, exchange, extra=()):
        return max(values["step_ms"] for values in run(exchange, WARMUP, STEPS[self.name], extra=extra))


def own_runs(only):
    for name in STEPS:
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model = Model(name, folder)
            for case, exchange in ((name, "shm"), (f"{name}-gloo", "gloo"), (f"{name}-no-exchange", "none")):
                yield (lambda case=case, exchange=exchange: {case: model.step_ms(model.ours, exchange)},
                       {case: ("ms/step", False)})


def benchmark(rounds, progress, only=None):
    entries = []
    for name in STEPS:
        if only and name not in only:
            continue
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            model = Model(name, folder)
            model.check(progress)
            results = measure.alternate({
                "ours": lambda: model.step_ms(model.ours, "shm"),
                "ours-gloo": lambda: model.step_ms(model.ours, "gloo"),
                "python-ddp-gloo": lambda: model.step_ms(model.peer, "gloo"),
                "no-exchange": lambda: model.step_ms(model.ours, "none"),
                "bare": lambda: model.step_ms(model.ours, "none", ("--bare",)),
                "lockstep": lambda: model.step_ms(model.ours, "shm", ("--bare", "--lockstep")),
                "python-no-ddp": lambda: model.step_ms(model.peer, "none"),
            }, rounds, progress)
        common = dict(unit="ms/step", ranks=RANKS, threads=1)
        for case, ours, peer in ((name, "ours", "python-ddp-gloo"), (name, "ours", "bare"),
                                 (name, "ours", "lockstep"), (name, "ours", "no-exchange"),
                                 (f"{name}-no-exchange", "no-exchange", "bare"),
                                 (f"{name}-gloo", "ours-gloo", "python-ddp-gloo"),
                                 (f"{name}-gloo", "ours-gloo", "no-exchange"),
                                 (f"{name}-no-exchange", "no-exchange", "python-no-ddp")):
            entries.append(report.entry(case, results[ours], results[peer], peer_name=peer, **common))
    return entries
