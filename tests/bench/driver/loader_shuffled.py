"""`shuffled-float` of `loader`: shuffled batches of digits as normalized floats, from a file whose checksums are verified,
against Python's DataLoader and against a tensor in memory."""
import os
import random
import tempfile

from . import measure, op_overhead, places, report

CASE = "shuffled-float"
DIGITS, PIXELS = 60_000, 28 * 28
EPOCHS, PYTHON_EPOCHS = 20, 1


def write_digits(folder):
    numbers = random.Random(1)
    with open(os.path.join(folder, "images"), "wb") as file:
        file.write(numbers.randbytes(DIGITS * PIXELS))
    with open(os.path.join(folder, "labels"), "wb") as file:
        file.write(bytes(numbers.randrange(10) for _ in range(DIGITS)))


def sides(folder):
    """What runs each side; "ours" comes first."""
    python = [places.PYTHON, places.peer("loader.py")]
    return {"ours": [places.program("bench-loader"), "epochs", folder, str(EPOCHS)],
            "uint8-tensor-indexed": [*python, "indexed", folder, str(EPOCHS)],
            **{f"python-dataloader-{workers}": [*python, "dataloader", folder, str(PYTHON_EPOCHS), str(workers)]
               for workers in (0, 1, 2)}}


def run(command):
    [values], _ = measure.run(command, ranks=1)
    return values


def benchmark(rounds, progress):
    with tempfile.TemporaryDirectory() as folder:
        write_digits(folder)
        measure.run_tool(places.program("bench-loader"), "prepare", folder)
        commands = sides(folder)
        op_overhead.compare_values(CASE, {side: run(command)["values"] for side, command in commands.items()})
        rates = measure.alternate({side: lambda command=command: run(command)["rate"]
                                   for side, command in commands.items()}, rounds, progress)
    return entries(rates)


def own_runs():
    with tempfile.TemporaryDirectory() as folder:
        write_digits(folder)
        measure.run_tool(places.program("bench-loader"), "prepare", folder)
        yield lambda: {CASE: run(sides(folder)["ours"])["rate"]}, {CASE: ("samples/s", True)}


def entries(rates):
    """Python's DataLoader counts with the number of workers that it is fastest with."""
    ours = rates["ours"]
    workers = {side: values for side, values in rates.items() if side.startswith("python-dataloader")}
    best = max(workers.values(), key=lambda values: sorted(values)[len(values) // 2])
    return [report.entry(CASE, ours, theirs, peer_name=name, unit="samples/s", ranks=1, threads=1, rate=True)
            for name, theirs in (("python-dataloader", best), ("uint8-tensor-indexed", rates["uint8-tensor-indexed"]))]
