"""`ddp-step`: a training step under DistributedDataParallel on two ranks, and what the exchange in it costs; and on four,
more than there are cores on a machine of two."""
import math
import os
import subprocess
import tempfile

from . import measure, places, report

RANKS, MORE_RANKS = 2, 4
# Steps that are timed, after WARMUP: a few seconds a run.
STEPS = {"mlp": 200, "cnn": 40, "lstm": 20, "resnet18": 16}
WARMUP = 5
CHECKED_STEPS = 3


class Model:
    def __init__(self, name, folder, ranks=RANKS):
        self.name, self.folder, self.ranks = name, folder, ranks
        subprocess.run([places.PYTHON, places.peer("prepare.py"), name, str(ranks), folder], check=True)

    def arguments(self, exchange, warmup, steps):
        return ["--model", self.name, "--data", self.folder, "--exchange", exchange, "--warmup", str(warmup),
                "--steps", str(steps)]

    def ours(self, *arguments, extra=()):
        command = places.tandem_run(self.ranks, places.program("bench-ddp-step"), *self.arguments(*arguments), *extra)
        return measure.run(command, ranks=self.ranks)[0]

    def peer(self, *arguments, extra=()):
        command = places.torchrun(self.ranks, places.peer("ddp_step.py"), *self.arguments(*arguments), *extra)
        return measure.run(command, ranks=self.ranks)[0]

    def check(self, progress):
        """Both sides see the same losses, and have the same parameters after a few steps."""
        saved = {side: os.path.join(self.folder, side + ".safetensors") for side in ("ours", "peer")}
        for exchange, peers in (("gloo", "gloo"), ("shm", "gloo"), ("none", "none")):
            losses = {}
            for side, run in (("ours", self.ours), ("peer", self.peer)):
                losses[side] = [values["losses"] for values in
                                run(exchange if side == "ours" else peers, CHECKED_STEPS, 0,
                                    extra=("--save", saved[side]))]
            for rank in range(self.ranks):
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

    def step_ms_and_memory(self, exchange):
        """The slowest rank's step, and the MiB that the largest rank has in memory once it trained."""
        ranks = self.ours(exchange, WARMUP, STEPS[self.name])
        return max(values["step_ms"] for values in ranks), max(values["rss_kb"] for values in ranks) / 1024


def with_more_ranks(name):
    return f"{name}-{MORE_RANKS}-ranks"


def own_runs(only):
    for name in STEPS:
        for case, ranks, exchanges in ((name, RANKS, (("", "shm"), ("-gloo", "gloo"), ("-no-exchange", "none"))),
                                       (with_more_ranks(name), MORE_RANKS, (("", "shm"), ("-gloo", "gloo")))):
            if only and case not in only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                model = Model(name, folder, ranks)
                for suffix, exchange in exchanges:
                    yield (lambda case=case + suffix, exchange=exchange:
                           dict(zip((case, case + "-memory"), model.step_ms_and_memory(exchange))),
                           {case + suffix: ("ms/step", False), case + suffix + "-memory": ("MiB", False)})


def benchmark(rounds, progress, only=None):
    entries = []
    for name in STEPS:
        for case, run in ((name, two_ranks), (with_more_ranks(name), more_ranks)):
            if not only or case in only:
                progress(f" {case}")
                with tempfile.TemporaryDirectory() as folder:
                    entries += run(name, folder, rounds, progress)
    return entries


def two_ranks(name, folder, rounds, progress):
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
    return [report.entry(case, results[ours], results[peer], peer_name=peer, unit="ms/step", ranks=RANKS, threads=1)
            for case, ours, peer in ((name, "ours", "python-ddp-gloo"), (name, "ours", "bare"),
                                     (name, "ours", "lockstep"), (name, "ours", "no-exchange"),
                                     (f"{name}-no-exchange", "no-exchange", "bare"),
                                     (f"{name}-gloo", "ours-gloo", "python-ddp-gloo"),
                                     (f"{name}-gloo", "ours-gloo", "no-exchange"),
                                     (f"{name}-no-exchange", "no-exchange", "python-no-ddp"))]


def more_ranks(name, folder, rounds, progress):
    model = Model(name, folder, MORE_RANKS)
    results = measure.alternate({
        "ours": lambda: model.step_ms(model.ours, "shm"),
        "ours-gloo": lambda: model.step_ms(model.ours, "gloo"),
        "python-ddp-gloo": lambda: model.step_ms(model.peer, "gloo"),
    }, rounds, progress)
    return [report.entry(with_more_ranks(name), results["ours"], results[peer], peer_name=peer, unit="ms/step",
                         ranks=MORE_RANKS, threads=1) for peer in ("ours-gloo", "python-ddp-gloo")]
