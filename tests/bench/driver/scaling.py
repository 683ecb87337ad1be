"""`scaling`: characters a second of the example `charlm` on 1, 2 and 4 ranks, and with two replicas in one process; and of
two programs that run beside each other and exchange nothing, which is what the machine's cores and memory give two ranks."""
from concurrent import futures
import os
import random
import re
import tempfile

from . import figures, measure, places, report

MODELS = ("mlstm", "lstm")
BATCH, LENGTH = 32, 64  # of each rank, or replica
STEPS = {"mlstm": 16, "lstm": 20}  # of an epoch; the first of two is not counted
# How the processes and replicas are laid out; all but the first are compared with it.
LAYOUTS = {"1-rank": (1, 1), "2-ranks": (2, 1), "4-ranks": (4, 1), "2-replicas": (1, 2)}
LEAST = {"2-ranks": 1.8}  # times the rate of one rank
APART = "2-apart"  # as "1-rank", twice at once


def write_text(path, size):
    draw = random.Random(1)
    with open(path, "wb") as file:
        file.write(bytes(draw.choices(b" etaoinshrdlucmfwypvbgkjqxz\n", k=size)))


def rate(output, windows, workers):
    """Characters a second of the last epoch, of a run whose every byte was read by one rank alone."""
    rates = re.findall(r"epoch \d+/\d+: .* ([\d.]+) characters/s", output)
    read = re.findall(r"(\d+) of (\d+) bytes from \d+ on were read, each by one rank alone", output)
    wanted = windows * workers * BATCH * LENGTH
    if len(rates) != 2 or len(read) != 2 or any(part != whole for part, whole in read) or sum(int(part) for part, _ in read) != wanted:
        raise measure.BenchError(f"charlm was to read {wanted} bytes, each on one rank, in two epochs:\n{output[-3000:]}")
    return float(rates[-1])


def run(model, layout, folder):
    ranks, replicas = LAYOUTS[layout]
    workers, windows = ranks * replicas, STEPS[model] + 1  # one window of each stream is held out
    text = os.path.join(folder, f"{model}-{workers}")
    if not os.path.exists(text):
        write_text(text, windows * workers * BATCH * LENGTH)
    program = [places.program("charlm-go"), "--data", text, "--model", model, "--epochs", "2", "--sample", "0",
               "--batch-size", str(BATCH * replicas), "--length", str(LENGTH), "--replicas", str(replicas)]
    output = measure.run_tool(*places.tandem_run(ranks, *program), timeout=600, environment={"OMP_NUM_THREADS": "1"})
    return rate(output, windows, workers)


def run_apart(model, folder):
    run(model, "1-rank", folder)  # the text is there, and in the page cache
    with futures.ThreadPoolExecutor() as threads:
        return sum(threads.map(lambda _: run(model, "1-rank", folder), range(2)))


def draw(plots, data):
    figure, axes = plots.subplots(1, len(data), figsize=(5 * len(data), 4.5), squeeze=False)
    for axis, (model, rates) in zip(axes[0], data.items()):
        one = rates["1-rank"]
        bars = axis.bar(list(rates), [value / 1000 for value in rates.values()], 0.6)
        axis.bar_label(bars, [f"{value / one:.2f} ×" for value in rates.values()])
        axis.set(title=f"{model}, batch {BATCH} a rank, {LENGTH} bytes")
    axes[0][0].set_ylabel("thousand characters/s")
    return figure


def benchmark(rounds, progress, only=None):
    entries, drawn = [], {}
    for model in MODELS:
        if only and model not in only:
            continue
        progress(f" {model}")
        with tempfile.TemporaryDirectory() as folder:
            runs = measure.alternate({**{layout: lambda layout=layout: run(model, layout, folder) for layout in LAYOUTS},
                                      APART: lambda: run_apart(model, folder)}, rounds, progress)
        drawn[model] = {layout: figures.median(rates) for layout, rates in runs.items()}
        for layout, (ranks, replicas) in [*list(LAYOUTS.items())[1:], (APART, (2, 1))]:
            entry = report.entry(f"{model}-{layout}", runs[layout], runs["1-rank"], peer_name="1-rank", unit="characters/s",
                                 ranks=ranks, threads=replicas, rate=True)
            times, least = 1 / entry["ratio"], LEAST.get(layout, 0)
            wanted = f", at least {least} wanted{'' if times >= least else ': MISSED'}" if least else ""
            progress(f"  {layout}: {times:.2f} times one rank{wanted}")
            entries.append(entry)
    if drawn:
        figures.save("scaling", draw, drawn, progress)
    return entries
