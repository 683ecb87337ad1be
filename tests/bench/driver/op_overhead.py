"""`op-overhead`: what an operator costs beside its arithmetic, called from Go, from Python and from C++; and a report to the launcher."""
import math
import os
import subprocess
import tempfile

from . import measure, places, report

# Iterations that are timed, after a tenth as many: a second a run.
ADDS, STEPS = 500_000, 150
CASES = {"add-scope": ADDS, "add-scope-grad": ADDS, "add-noscope": ADDS, "lstm-cell-loop": STEPS}
CHECKED = 5
# Calls of dist.Report and report_metrics(), under a launcher that reads them.
REPORTS, MOST_US = 1_000_000, 1.0


class Case:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.trains = name == "lstm-cell-loop"
        self.data = []
        if self.trains:
            subprocess.run([places.PYTHON, places.peer("prepare.py"), name, "1", folder], check=True)
            self.data = ["--data", folder]

    def sides(self):
        """What runs each side; "ours" comes first."""
        sides = {"ours": lambda *more: [places.program("bench-op-overhead"), *self.data, *more],
                 "python": lambda *more: [places.PYTHON, places.peer("op_overhead.py"), *self.data, *more]}
        if not self.trains:
            sides["cpp"] = lambda *more: [places.program("bench-op-overhead-cpp"), *more]
        return sides

    def run(self, command, iterations, options=()):
        [values], _ = measure.run(command(*options, self.name, str(iterations)), ranks=1)
        return values

    def check(self, progress):
        """All sides give the same values; those that train end with the same parameters."""
        saved = {side: os.path.join(self.folder, side + ".safetensors") for side in self.sides()} if self.trains else {}
        values = {side: self.run(command, CHECKED, ["--save", saved[side]] if saved else ())["values"]
                  for side, command in self.sides().items()}
        compare_values(self.name, values)
        if saved:
            compared = subprocess.run([places.PYTHON, places.peer("compare.py"), saved["ours"], saved["python"]],
                                      capture_output=True, text=True)
            if compared.returncode != 0:
                raise measure.BenchError(f"{self.name}: {compared.stdout}{compared.stderr}")
            progress(f"  {compared.stdout.strip()}")


def compare_values(case, values):
    """Raises measure.BenchError unless the values of all sides agree."""
    ours = values["ours"]
    for side, theirs in values.items():
        if len(theirs) != len(ours):
            raise measure.BenchError(f"{case}: {len(ours)} values, {side} has {len(theirs)}")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            if not math.isclose(a, b, rel_tol=1e-3):
                raise measure.BenchError(f"{case}: value {i} is {a}, that of {side} is {b}")


def own_runs(only):
    for name, iterations in CASES.items():
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case = Case(name, folder)
            yield (lambda: {name: case.run(case.sides()["ours"], iterations)["us"]},
                   {name: ("us/step" if case.trains else "us/op", False)})


def reports(rounds, progress):
    sides = {"go": [places.program("bench-op-overhead"), "report"], "cpp": [places.program("bench-recovery"), "report"]}

    def once(command):
        [values], _ = measure.run(places.tandem_run(1, *command, str(REPORTS)), ranks=1)
        return values["us"]

    results = measure.alternate({side: lambda command=command: once(command) for side, command in sides.items()}, rounds, progress)
    return [report.entry("report", results[side], [MOST_US] * rounds, peer_name="limit-1us", ranks=1, threads=1, unit="us/call", front_end=side)
            for side in sides]


def benchmark(rounds, progress, only=None):
    entries = []
    if not only or "report" in only:
        progress(" report")
        entries += reports(rounds, progress)
    for name, iterations in CASES.items():
        if only and name not in only:
            continue
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            case = Case(name, folder)
            case.check(progress)
            results = measure.alternate({side: lambda command=command: case.run(command, iterations)["us"]
                                         for side, command in case.sides().items()}, rounds, progress)
        for peer in list(results)[1:]:
            entry = report.entry(name, results["ours"], results[peer], peer_name=peer, ranks=1, threads=1,
                                 unit="us/step" if case.trains else "us/op")
            progress(f"  {entry['ours'] - entry['peer']:+.3f} us against {peer}")
            entries.append(entry)
    return entries
