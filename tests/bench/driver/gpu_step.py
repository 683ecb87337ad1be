"""`gpu-step`: a training step on one GPU, against Python in eager mode: the module alone, and under DistributedDataParallel
over NCCL with one rank, where what DDP costs beside the exchange shows. Needs a GPU, `script/bootstrap --cuda`, and in
TANDEM_BENCH_PYTHON a Python whose torch has CUDA."""
import tempfile

from . import measure, places, report, train_step

# What part of Python's time each may take. These steps wait for the CPU, which calls one kernel after the other.
LIMITS = {"mlp-small": 0.75, "lstm": 1.0, "resnet18": 0.9, "gpt10m": 0.9}
WARMUP, STEPS = 20, 300


class Model(train_step.Model):
    exchange = "none"

    def __init__(self, name, folder):
        super().__init__(name, folder)
        if name == "resnet18":  # cuDNN adds in another order each time: two runs of one program are 6e-6 apart after two steps
            self.checked_steps = 1

    def run(self, side, warmup, steps, extra=()):
        program = {"ours": [places.program("bench-ddp-step")], "python": [places.PYTHON, places.peer("ddp_step.py")]}[side]
        if side == "ours" and self.exchange == "none":
            program.append("--bare")
        exact = {"NVIDIA_TF32_OVERRIDE": "0"} if extra else {}  # where results are compared
        environment = {**exact, "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": places.free_port()}
        [values], _ = measure.run([*program, "--model", self.name, "--data", self.folder, "--exchange", self.exchange,
                                   "--device", "cuda", "--warmup", str(warmup), "--steps", str(steps), *extra],
                                  ranks=1, environment=environment)
        return values


class DataParallel(Model):
    exchange = "nccl"


def benchmark(rounds, progress, only=None):
    entries = []
    for name, limit in LIMITS.items():
        for case, kind in ((name, Model), (name + "-ddp", DataParallel)):
            if only and case not in only:
                continue
            progress(f" {case}")
            with tempfile.TemporaryDirectory() as folder:
                model = kind(name, folder)
                model.check(progress)
                sides = {side: lambda side=side: model.run(side, WARMUP, STEPS)["step_ms"] for side in ("ours", "python")}
                results = measure.alternate(sides, rounds, progress)
            entry = report.entry(case, results["ours"], results["python"], peer_name="python", unit="ms/step", ranks=1,
                                 threads=1)
            train_step.tell_limit(entry, limit, "Python's", progress)
            entries.append(entry)
    return entries
