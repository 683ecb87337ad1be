"""`--against COMMIT`: the same programs of two builds of Tandem in alternating runs, this tree's and a commit's.

Each benchmark's own_runs(only) yields what runs our side once and returns {case: value}, and {case: (unit, is a rate)}.
"""
import math

from . import allreduce, commits, ddp_step, loader, measure, op_overhead, places, report, startup

BENCHMARKS = {"startup": startup, "ddp-step": ddp_step, "op-overhead": op_overhead, "allreduce": allreduce,
              "loader": loader}
# What a commit may cost: of a benchmark's geometric mean, and of any case.
MOST_MEAN, MOST_CASE = 1.03, 1.10


def in_build(folder, run):
    def once():
        with places.build(folder):
            return run()
    return once


def benchmark(name, commit, rounds, progress, only=None):
    other = commits.release_build(commit, progress)
    entries = []
    for run, cases in BENCHMARKS[name].own_runs(only):
        progress(f" {', '.join(cases)}")
        sides = {"ours": in_build(places.BUILD, run), commit: in_build(other, run)}
        for once in sides.values():
            once()  # files into the page cache
        results = measure.alternate(sides, rounds, progress)
        for case, (unit, rate) in cases.items():
            entries.append(report.entry(case, *([values[case] for values in results[side]] for side in sides),
                                        peer_name=commit, unit=unit, ranks=0, threads=1, rate=rate))
    return entries


def mean(entries):
    return math.exp(sum(math.log(entry["ratio"]) for entry in entries) / len(entries))


def verdict(entries):
    """A line, and whether the limits hold."""
    worst = max(entries, key=lambda entry: entry["ratio"])
    line = (f"geometric mean {mean(entries):.3f} (at most {MOST_MEAN}), the worst case {worst['case']} "
            f"{worst['ratio']:.3f} (at most {MOST_CASE})")
    return line, mean(entries) <= MOST_MEAN and worst["ratio"] <= MOST_CASE
