"""`ddp-parts`: where a data-parallel step's time goes: of each model what runs without an exchange, in lockstep, under
DistributedDataParallel without and with one, and what each side's threads take of the two cores meanwhile."""
import statistics
import tempfile

from . import ddp_step, measure, report

SIDES = {"bare": ("none", ("--bare",)), "lockstep": ("shm", ("--bare", "--lockstep")), "none": ("none", ()), "shm": ("shm", ())}
COUNTS = ("cpu_ms", "runqueue_ms", "switches", "preemptions", "faults")
# What a thread has to take of a step to have a line of its own.
LEAST_MS = 0.01


def by_thread(runs):
    """The mean over ranks, and then the median over runs, of each thread's counts."""
    names = {name for ranks in runs for values in ranks for name in values["threads"]}

    def median(name, count):
        return statistics.median(statistics.mean(values["threads"].get(name, {}).get(count, 0) for values in ranks)
                                 for ranks in runs)

    return {name: {count: median(name, count) for count in COUNTS} for name in sorted(names)}


def table(results):
    lines = [f"  {'':9} {'thread':18} {'ms a step':>10} " + " ".join(f"{count:>12}" for count in COUNTS)]
    for side, runs in results.items():
        step = statistics.median(max(values["step_ms"] for values in ranks) for ranks in runs)
        lines.append(f"  {side:9} {'':18} {step:10.3f}")
        for name, counts in by_thread(runs).items():
            if counts["cpu_ms"] >= LEAST_MS:
                lines.append(f"  {'':9} {name:18} {'':10} " + " ".join(f"{counts[count]:12.3f}" for count in COUNTS))
    return "\n".join(lines)


def benchmark(rounds, progress, only=None):
    entries = []
    for name in ddp_step.STEPS:
        if only and name not in only:
            continue
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            model = ddp_step.Model(name, folder)

            def run(exchange, extra):
                return model.ours(exchange, ddp_step.WARMUP, ddp_step.STEPS[name], extra=("--usage", *extra))

            results = measure.alternate({side: lambda how=how: run(*how) for side, how in SIDES.items()}, rounds, progress)
        progress(table(results))

        def steps(side):
            return [max(values["step_ms"] for values in ranks) for ranks in results[side]]

        entries += [report.entry(f"{name}-{side}", steps(side), steps("bare"), peer_name="bare", unit="ms/step",
                                 ranks=ddp_step.RANKS, threads=1) for side in SIDES if side != "bare"]
    return entries
