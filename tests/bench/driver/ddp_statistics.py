"""`ddp-statistics`: what DDP's statistics say against the same measured from outside, and what its advisor chooses
against every bucket size."""
import statistics
import tempfile

from . import ddp_step, measure, report

SIZES = (0, 1, 5, 10, 25, 50, 100)
SEPARATE_EVERY = 4


def usual(values):
    """A step's time without the few that the machine disturbs, which add more than what is looked for."""
    return statistics.median(values["steps_ms"])


def mean_over_ranks(values):
    return statistics.mean(values)


def benchmark(rounds, progress, only=None):
    entries = []
    for name in ddp_step.STEPS:
        if only and name not in only:
            continue
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            model = ddp_step.Model(name, folder)

            def run(exchange, *extra):
                return model.ours(exchange, ddp_step.WARMUP, ddp_step.STEPS[name], extra=extra)

            def step(exchange, *extra):
                return mean_over_ranks(usual(values) for values in run(exchange, *extra))

            def told():
                return run("shm", "--separate", str(SEPARATE_EVERY))

            kept = []

            def advised():
                ranks = run("shm", "--advise")
                kept.append(ranks[0]["bucket_cap_mb"])
                return mean_over_ranks(usual(values) for values in ranks)

            sides = {"told": told, "step": lambda: step("shm"), "no-exchange": lambda: step("none"), "advised": advised}
            for size in SIZES:
                sides[f"{size} MB"] = lambda size=size: step("shm", "--bucket-cap-mb", str(size))
            results = measure.alternate(sides, rounds, progress)
        common = dict(unit="ms/step", ranks=ddp_step.RANKS, threads=1)

        def of(key):
            return [mean_over_ranks(values[key] for values in ranks) for ranks in results["told"]]

        exposed = [a - b for a, b in zip(results["step"], results["no-exchange"], strict=True)]
        medians = {size: statistics.median(results[f"{size} MB"]) for size in SIZES}
        best = min(medians, key=medians.get)
        progress("  " + ", ".join(f"{size} MB {time:.4g} ms" for size, time in medians.items()) +
                 f"; the advisor kept {', '.join(f'{size:g}' for size in kept)} MB")
        entries += [
            report.entry(f"{name}-exposed", of("told_exposed_ms"), exposed, peer_name="step-less-no-exchange", **common),
            report.entry(f"{name}-total", of("alone_ms"), of("reduced_ms"), peer_name="buckets-reduced-alone", **common),
            report.entry(f"{name}-advised", results["advised"], results[f"{best} MB"], peer_name=f"best-{best}-MB",
                         **common),
        ]
    return entries
