"""`pipeline`: a step of a transformer of eight equal blocks by two stages on two ranks, against one rank on the whole
batch, and against torch.distributed.pipelining."""
import math

from . import measure, places, report

RANKS, MICRO_BATCHES = 2, 8
WARMUP, STEPS, CHECKED_STEPS = 1, 4, 3
CASES = {"1f1b-2": "1f1b", "gpipe-2": "gpipe"}
AT_LEAST = 1.5  # times one rank's speed; the ideal is 16/9


def arguments(schedule, warmup, steps):
    return ["--schedule", schedule, "--micro-batches", str(MICRO_BATCHES), "--warmup", str(warmup), "--steps", str(steps)]


def ours(schedule, warmup, steps, backend="shm"):
    ranks = 1 if schedule == "whole" else RANKS
    command = places.tandem_run(ranks, places.program("bench-pipeline"), *arguments(schedule, warmup, steps), "--backend", backend)
    return measure.run(command, ranks=ranks)[0]


def peer(schedule, warmup, steps):
    ranks = 1 if schedule == "whole" else RANKS
    command = places.torchrun(ranks, places.peer("pipeline.py"), *arguments(schedule, warmup, steps))
    return measure.run(command, ranks=ranks)[0]


def check(schedule):
    """Pipelines and single processes of both sides have the same losses."""
    losses = {"ours": ours(schedule, 0, CHECKED_STEPS)[0]["losses"], "one rank": ours("whole", 0, CHECKED_STEPS)[0]["losses"],
              # Only the last stage has them.
              "pipelining": peer(schedule, 0, CHECKED_STEPS)[-1]["losses"]}
    for side in ("one rank", "pipelining"):
        for step, (a, b) in enumerate(zip(losses["ours"], losses[side], strict=True)):
            if not math.isclose(a, b, rel_tol=1e-4):
                raise measure.BenchError(f"{schedule}: the loss at step {step} is {a}, that of {side} {b}")


def step_ms(result):
    return max(values["step_ms"] for values in result)


def benchmark(rounds, progress, only=None):
    entries = []
    for case, schedule in CASES.items():
        if only and case not in only:
            continue
        progress(f" {case}")
        check(schedule)
        results = measure.alternate({
            "ours": lambda schedule=schedule: step_ms(ours(schedule, WARMUP, STEPS)),
            "ours-gloo": lambda schedule=schedule: step_ms(ours(schedule, WARMUP, STEPS, "gloo")),
            "one-rank": lambda: step_ms(ours("whole", WARMUP, STEPS)),
            "pipelining-gloo": lambda schedule=schedule: step_ms(peer(schedule, WARMUP, STEPS)),
        }, rounds, progress)
        for own, other in (("ours", "one-rank"), ("ours", "pipelining-gloo"), ("ours-gloo", "pipelining-gloo")):
            name = case + ("-gloo" if own == "ours-gloo" else "")
            entries.append(report.entry(name, results[own], results[other], peer_name=other, unit="ms/step", ranks=RANKS,
                                        threads=1))
        progress(f"  {1 / entries[-3]['ratio']:.2f} times one rank; {AT_LEAST} are wanted")
    return entries
