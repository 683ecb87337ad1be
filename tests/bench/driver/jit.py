"""`jit`: an elementwise loop of ten multiplications, called by operators and as a function of TorchScript."""
from . import measure, op_overhead, places, report

CALLS = 100_000  # that are timed, after a tenth as many: a second a run
CASES = ("mul10-eager", "mul10-script")
SIDES = {"ours": [places.program("bench-jit")], "python": [places.PYTHON, places.peer("jit.py")]}


def run(side, case, calls):
    [values], _ = measure.run([*SIDES[side], case, str(calls)], ranks=1)
    return values


def benchmark(rounds, progress, only=None):
    entries = []
    for case in CASES:
        if only and case not in only:
            continue
        progress(f" {case}")
        op_overhead.compare_values(case, {side: run(side, case, 10)["values"] for side in SIDES})
        results = measure.alternate({side: lambda side=side: run(side, case, CALLS)["us"] for side in SIDES}, rounds, progress)
        entries.append(report.entry(case, results["ours"], results["python"], peer_name="python", ranks=1, threads=1,
                                    unit="us/call"))
    return entries
