"""`startup`: from starting the launcher to the first all-reduce, and the workers' memory after it."""
from . import measure, places, rendezvous, report

RANKS = 2


def once(command):
    reports, started_at = measure.run(command, ranks=RANKS, timeout=120)
    for rank, values in enumerate(reports):
        if values["result"] != 3.0:
            raise measure.BenchError(f"all_reduce of 1 and 2 gave {values['result']} on rank {rank}: {command}")
    return {"first-allreduce": max(values["done_at"] for values in reports) - started_at,
            "worker-memory": max(values["rss_kb"] for values in reports) / 1024}


def ours():
    return once(places.tandem_run(RANKS, places.program("bench-first-allreduce")))


def peer():
    return once(places.torchrun(RANKS, places.peer("first_allreduce.py")))


def own_runs(only):
    yield ours, {"first-allreduce": ("s", False), "worker-memory": ("MB", False)}


def benchmark(rounds, progress, only=None):
    agents = f"rendezvous-{rendezvous.AGENTS}"
    met = rendezvous.benchmark(rounds, progress) if not only or agents in only else []
    if only and set(only) == {agents}:
        return met
    ours(), peer()  # files into the page cache, and both results checked, before anything counts
    results = measure.alternate({"ours": ours, "torchrun": peer}, rounds, progress)
    common = dict(peer_name="torchrun", ranks=RANKS, threads=1)
    entries = []
    for case, unit in (("first-allreduce", "s"), ("worker-memory", "MB")):
        entries.append(report.entry(case, [run[case] for run in results["ours"]],
                                    [run[case] for run in results["torchrun"]], unit=unit, **common))
    return entries + met
