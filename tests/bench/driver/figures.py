"""`figures`: what the paper of DistributedDataParallel plots (Li et al., VLDB 2020), measured here, into
build/bench/figures: PNG files, and figures.json with the numbers that are drawn."""
import json
import os
import tempfile

from . import allreduce, ddp_step, measure, places

FOLDER = os.path.join(places.RESULTS, "figures")
EXCHANGES = ("shm", "gloo")
BUCKETS_MB = (0, 1, 5, 10, 25, 50, 100)
SKIPS = (1, 2, 4, 8)
SKIP_BATCHES = 480  # a multiple of all of them
ROUNDS = 5
LABELS = {"ours": "shm, from Go", "cpp": "shm, from C++"}  # of all-reduce's sides


def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]


def measure_allreduce(progress):
    """{ranks: {side: {bytes: median microseconds}}}"""
    found, result = allreduce.sides(progress), {}
    sizes = [str(size) for size in allreduce.SIZES.values()]
    for ranks in allreduce.RANKS:
        progress(f" {ranks} ranks")
        runs = measure.alternate({name: lambda side=side: allreduce.times(side, ranks, sizes)
                                  for name, side in found.items()}, ROUNDS, progress)
        result[ranks] = {name: {size: median([run[size] for run in of]) for size in sizes} for name, of in runs.items()}
    return result


def slower(reports, key):
    return max(report[key] for report in reports)


def measure_breakdown(progress):
    """{model: {exchange: {part: milliseconds a step}}}, of the slower rank; medians."""
    result = {}
    for name in ddp_step.STEPS:
        progress(f" {name}")
        with tempfile.TemporaryDirectory() as folder:
            model = ddp_step.Model(name, folder)
            runs = measure.alternate({exchange: lambda exchange=exchange: model.ours(
                exchange, ddp_step.WARMUP, ddp_step.STEPS[name], extra=("--statistics",))
                for exchange in EXCHANGES}, ROUNDS, progress)
        result[name] = {exchange: {key: median([slower(reports, key + "_ms") for reports in of])
                                   for key in ("forward", "backward", "communication", "exposed", "step")}
                        for exchange, of in runs.items()}
    return result


def measure_buckets(progress):
    """{model: {exchange: {MiB: [milliseconds of every step of the slower rank]}}}"""
    result = {}
    for name in ddp_step.STEPS:
        with tempfile.TemporaryDirectory() as folder:
            model = ddp_step.Model(name, folder)
            of_model = result[name] = {exchange: {} for exchange in EXCHANGES}
            for exchange in EXCHANGES:
                for size in BUCKETS_MB:
                    reports = model.ours(exchange, ddp_step.WARMUP, ddp_step.STEPS[name],
                                         extra=("--bucket-cap-mb", str(size)))
                    of_model[exchange][size] = [max(step) for step in zip(*(r["steps_ms"] for r in reports))]
                progress(f" {name} over {exchange}")
    return result


def measure_skipped(progress):
    """{batches from one exchange to the next: [loss of every batch]}"""
    with tempfile.TemporaryDirectory() as folder:
        digits = os.path.join(folder, "digits")
        measure.run_tool(places.program("draw-digits"), digits)
        result = {}
        for every in SKIPS:
            command = places.tandem_run(2, places.program("bench-skipped-sync"), "--data", digits, "--cache", folder,
                                        "--every", str(every), "--batches", str(SKIP_BATCHES))
            result[every] = measure.run(command, ranks=2)[0][0]["losses"]
            progress(f" every {every} batches")
    return result


def draw_allreduce(plots, data):
    figure, axes = plots.subplots(1, len(data), figsize=(6 * len(data), 4.5), sharey=True, squeeze=False)
    for axis, (ranks, sides) in zip(axes[0], data.items()):
        for name, times in sides.items():
            axis.loglog([int(size) for size in times], times.values(), marker="o", label=LABELS.get(name, name))
        axis.set(title=f"all-reduce, {ranks} ranks", xlabel="bytes")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("µs")
    axes[0][0].legend()
    return figure


def draw_breakdown(plots, data):
    figure, axes = plots.subplots(1, len(data), figsize=(3.2 * len(data), 4.5), squeeze=False)
    for axis, (model, exchanges) in zip(axes[0], data.items()):
        names = list(exchanges)
        bottom = [0.0] * len(names)
        for part, label in (("forward", "forward"), ("backward", "backward"), ("exposed", "exposed communication"),
                            ("rest", "optimizer and the rest")):
            heights = [exchanges[name][part] if part != "rest" else max(0.0, exchanges[name]["step"] - below)
                       for name, below in zip(names, bottom)]
            axis.bar(names, heights, 0.6, bottom, label=label)
            bottom = [a + b for a, b in zip(bottom, heights)]
        axis.set(title=model)
    axes[0][0].set_ylabel("ms a step")
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))  # beside the bars
    return figure


def draw_buckets(plots, data):
    figure, axes = plots.subplots(len(EXCHANGES), len(data), figsize=(4 * len(data), 3.6 * len(EXCHANGES)), squeeze=False)
    for column, (model, exchanges) in enumerate(data.items()):
        for row, (exchange, sizes) in enumerate(exchanges.items()):
            axis = axes[row][column]
            axis.boxplot(list(sizes.values()), tick_labels=[str(size) for size in sizes], showfliers=False)
            axis.set(title=f"{model}, {exchange}")
            if row == len(EXCHANGES) - 1:
                axis.set_xlabel("bucket_cap_mb")
    for row in axes:
        row[0].set_ylabel("ms a step")
    return figure


def smoothed(numbers, width=20):
    return [sum(numbers[max(0, i - width + 1):i + 1]) / min(width, i + 1) for i in range(len(numbers))]


def draw_skipped(plots, data):
    figure, axis = plots.subplots(figsize=(7, 4.5))
    for every, losses in data.items():
        axis.plot(range(1, len(losses) + 1), smoothed(losses), label=f"every {every}" if int(every) > 1 else "every batch")
    axis.set(title="MNIST, gradients exchanged …", xlabel="batches", ylabel="loss, mean of 20 batches", yscale="log")
    axis.grid(alpha=0.3)
    axis.legend()
    return figure


FIGURES = {"allreduce": (measure_allreduce, draw_allreduce), "breakdown": (measure_breakdown, draw_breakdown),
           "bucket-size": (measure_buckets, draw_buckets), "skipped-synchronization": (measure_skipped, draw_skipped)}


def save(name, draw, data, progress):
    """Writes NAME.png, which draw(plots, data) makes, and the numbers that are drawn."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plots
    os.makedirs(FOLDER, exist_ok=True)
    figure = draw(plots, data)
    figure.tight_layout()
    path = os.path.join(FOLDER, name + ".png")
    figure.savefig(path, dpi=120)
    plots.close(figure)
    numbers_path = os.path.join(FOLDER, "figures.json")
    numbers = {}
    if os.path.exists(numbers_path):
        with open(numbers_path) as file:
            numbers = json.load(file)
    numbers[name] = data
    with open(numbers_path + ".new", "w") as file:
        json.dump(numbers, file, indent=1)
    os.replace(numbers_path + ".new", numbers_path)
    progress(f"drawn: {os.path.relpath(path, places.ROOT)}")


def draw_all(progress, only=None):
    for name in only or ():
        if name not in FIGURES:
            raise measure.BenchError(f"no figure {name!r}; there are {', '.join(FIGURES)}")
    for name, (take, draw) in FIGURES.items():
        if only and name not in only:
            continue
        progress(f"{name}")
        save(name, draw, take(progress), progress)
