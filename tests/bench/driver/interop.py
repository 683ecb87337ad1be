"""Each launcher starts the other's programs: they agree on the environment of a worker."""
from . import measure, places

RANKS = 2


def check():
    """Prints a line a combination; raises measure.BenchError at the first that fails."""
    combinations = (
        ("tandem run, a Python torch program", places.tandem_run, places.PYTHON, places.peer("first_allreduce.py")),
        ("torchrun, a Go program", lambda ranks, *command: places.torchrun(ranks, *command, python=False),
         places.program("bench-first-allreduce")),
    )
    for name, launcher, *command in combinations:
        reports, _ = measure.run(launcher(RANKS, *command), ranks=RANKS, timeout=120)
        results = [values["result"] for values in reports]
        if results != [3.0] * RANKS:
            raise measure.BenchError(f"{name}: all_reduce gave {results}, not 3")
        print(f"pass: {name}", flush=True)
