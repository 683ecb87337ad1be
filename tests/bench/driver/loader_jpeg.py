"""`jpeg` of `loader`: shuffled batches of pictures, decoded as they are, and as they are trained with, against torchvision's
decoder and transforms in torch's DataLoader, with as many threads."""
import statistics
import tempfile

from . import measure, places, report

CASE = "jpeg"
KINDS = {"plain": CASE, "train": f"{CASE}-train"}
EPOCHS = 2
THREADS = (1, 2)


def sides(folder, kind, threads):
    """What runs each side; "ours" comes first. A DataLoader without workers decodes in one thread as well."""
    ours = [places.program("bench-loader-jpeg"), "epochs", folder, str(EPOCHS), str(threads), kind]
    peer = [places.PYTHON, places.peer("loader_jpeg.py"), folder, str(EPOCHS)]
    workers = (0, 1) if threads == 1 else (threads,)
    return {"ours": ours, **{f"torchvision-{count}": [*peer, str(count), kind] for count in workers}}


def run(command):
    [values], _ = measure.run(command, ranks=1)
    return values


def compare(kind, results):
    """Raises measure.BenchError unless all sides give the same labels, and about the same pixels where those are not
    random: decoders may differ by a step in some."""
    ours = results["ours"]
    for side, theirs in results.items():
        if theirs["labels"] != ours["labels"]:
            raise measure.BenchError(f"{CASE}: {side} gives labels that sum to {theirs['labels']}, ours {ours['labels']}")
        if kind == "plain" and abs(theirs["pixels"] / ours["pixels"] - 1) > 1e-3:
            raise measure.BenchError(f"{CASE}: {side} gives pixels that sum to {theirs['pixels']}, ours {ours['pixels']}")


def benchmark(rounds, progress):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        measure.run_tool(places.program("bench-loader-jpeg"), "prepare", folder)
        for kind in KINDS:
            for threads in THREADS:
                progress(f"  {kind}, {threads} threads")
                commands = sides(folder, kind, threads)
                compare(kind, {side: run(command) for side, command in commands.items()})
                rates = measure.alternate({side: lambda command=command: run(command)["rate"]
                                           for side, command in commands.items()}, rounds, progress)
                found.append(entry(kind, threads, rates))
    return found


def own_runs():
    with tempfile.TemporaryDirectory() as folder:
        measure.run_tool(places.program("bench-loader-jpeg"), "prepare", folder)
        for kind, name in KINDS.items():
            for threads in THREADS:
                case = f"{name}-{threads}"
                yield lambda: {case: run(sides(folder, kind, threads)["ours"])["rate"]}, {case: ("pictures/s", True)}


def entry(kind, threads, rates):
    """The DataLoader counts as it is fastest."""
    best = max((values for side, values in rates.items() if side != "ours"), key=statistics.median)
    return report.entry(KINDS[kind], rates["ours"], best, peer_name="torchvision", unit="pictures/s", ranks=1,
                        threads=threads, front_end="cpp", rate=True)
