"""`exported`: programs of torch.export, in one process with one thread against Python's module in eager mode, or its exported
or compiled one where nothing trains; and under DistributedDataParallel against the same network in Go."""
import math
import os
import subprocess
import tempfile

from . import ddp_step, measure, op_overhead, places, report, train_step

# The model of a case that trains, and what part of Python's time its step may take.
TRAIN = {"resnet18-train": ("resnet18", 0.95), "transformer-train": ("gpt10m", 0.95)}
# A call of the model, against Python's exported module, or against AOTInductor's package of it where both run its code.
INFER = {"resnet18-infer": ("resnet18", 0.9), "resnet18-compiled": ("resnet18", 1.03)}
# A step on two ranks, against the network in Go.
DDP = {"resnet18-ddp": ("resnet18", 1.03)}
WARMUP, CALLS = 5, 40


def export(name, folder, *how):
    """train.pt2 and eval.pt2, of the weights that prepare.py has written there; with --compile, compiled.pt2."""
    measure.run_tool(places.PYTHON, "-W", "ignore", places.peer("export_model.py"), name, folder, *how, timeout=300)


class Trained(train_step.Model):
    """The same training, our side of it by the archive."""

    def __init__(self, name, folder):
        super().__init__(name, folder)
        export(name, folder)

    def run(self, side, warmup, steps, extra=()):
        if side == "ours":
            extra = (*extra, "--exported", os.path.join(self.folder, "train.pt2"))
        return super().run(side, warmup, steps, extra)


def train(case, rounds, progress):
    name, limit = TRAIN[case]
    with tempfile.TemporaryDirectory() as folder:
        model = Trained(name, folder)
        model.check(progress)
        results = measure.alternate({side: lambda side=side: model.step_ms(side) for side in ("ours", "python")}, rounds, progress)
    entry = report.entry(case, results["ours"], results["python"], peer_name="python", unit="ms/step", ranks=1, threads=1)
    train_step.tell_limit(entry, limit, "Python's", progress)
    return entry


def infer(case, rounds, progress):
    name, limit = INFER[case]
    compiled = case.endswith("-compiled")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([places.PYTHON, places.peer("prepare.py"), name, "1", folder], check=True)
        export(name, folder, *(["--compile"] if compiled else []))
        sides = {"ours": [places.program("bench-exported"), *(["-compiled"] if compiled else [])],
                 "python": [places.PYTHON, places.peer("exported_infer.py")]}

        def run(side, warmup, calls):
            after = ["--compiled"] if compiled and side == "python" else []
            return measure.run([*sides[side], folder, str(warmup), str(calls), *after], ranks=1)[0][0]

        op_overhead.compare_values(case, {side: run(side, 0, 0)["values"] for side in sides})
        results = measure.alternate({side: lambda side=side: run(side, WARMUP, CALLS)["ms"] for side in sides}, rounds, progress)
    entry = report.entry(case, results["ours"], results["python"], peer_name="python-compiled" if compiled else "python-exported",
                         unit="ms/call", ranks=1, threads=1)
    train_step.tell_limit(entry, limit, "Python's compiled package's" if compiled else "Python's exported module's", progress)
    return entry


def ddp(case, rounds, progress):
    name, limit = DDP[case]
    with tempfile.TemporaryDirectory() as folder:
        model = ddp_step.Model(name, folder)
        export(name, folder)
        sides = {"ours": ("--exported", os.path.join(folder, "train.pt2")), "go": ()}
        check_ddp(case, model, sides, folder, progress)
        results = measure.alternate({side: lambda extra=extra: model.step_ms(model.ours, "shm", extra)
                                     for side, extra in sides.items()}, rounds, progress)
    entry = report.entry(case, results["ours"], results["go"], peer_name="ours-go", unit="ms/step", ranks=ddp_step.RANKS, threads=1)
    train_step.tell_limit(entry, limit, "the network in Go's", progress)
    return entry


def check_ddp(case, model, sides, folder, progress):
    """Both have the same losses on each rank, and the same parameters after a few steps."""
    saved = {side: os.path.join(folder, side + ".safetensors") for side in sides}
    losses = {side: [values["losses"] for values in
                     model.ours("shm", ddp_step.CHECKED_STEPS, 0, extra=(*extra, "--save", saved[side]))]
              for side, extra in sides.items()}
    for rank, both in enumerate(zip(losses["ours"], losses["go"], strict=True)):
        for step, (a, b) in enumerate(zip(*both, strict=True)):
            if not math.isclose(a, b, rel_tol=1e-3):
                raise measure.BenchError(f"{case}: the loss of rank {rank} at step {step} is {a}, that of the network in Go {b}")
    progress(f"  {measure.run_tool(places.PYTHON, places.peer('compare.py'), *saved.values()).strip()}")


def benchmark(rounds, progress, only=None):
    entries = []
    for cases, run in ((TRAIN, train), (INFER, infer), (DDP, ddp)):
        for case in cases:
            if not only or case in only:
                progress(f" {case}")
                entries.append(run(case, rounds, progress))
    return entries
