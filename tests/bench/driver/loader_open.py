"""Cases of `loader` that open 100 GB of files, which are sparse but whole, with an index each: how long it takes, and how
much memory. Their peer is what the project promises."""
import statistics
import tempfile

from . import measure, places, report

BYTES, LIMITS = 100e9, {"s": 1.0, "MB": 100.0}
CASES = {"v1-open-100gb": "v1", "v2-open-100gb": "v2"}


def run(folder):
    [result], _ = measure.run([places.program("bench-record-open"), "open", folder], ranks=1)
    if result["bytes"] < BYTES:
        raise measure.BenchError(f"the set has {result['bytes']} bytes, fewer than {BYTES:.0f}")
    return result


def benchmark(case, rounds, progress):
    with tempfile.TemporaryDirectory() as folder:
        measure.run_tool(places.program("bench-record-open"), "make", CASES[case], folder)
        return entries(case, measure.alternate({"ours": lambda: run(folder)}, rounds, progress)["ours"], progress)


def own_runs(case):
    with tempfile.TemporaryDirectory() as folder:
        measure.run_tool(places.program("bench-record-open"), "make", CASES[case], folder)

        def run_once():
            values = run(folder)
            return {f"{case}-{unit}": values[unit.lower()] for unit in LIMITS}
        yield run_once, {f"{case}-{unit}": (unit, False) for unit in LIMITS}


def entries(case, runs, progress):
    """One for time and one for memory."""
    progress(f"  {statistics.median(run['records'] for run in runs):.0f} records")
    return [report.entry(case, [run[unit.lower()] for run in runs], [limit] * len(runs), peer_name="limit", unit=unit,
                         ranks=1, threads=1, front_end="cpp") for unit, limit in LIMITS.items()]
