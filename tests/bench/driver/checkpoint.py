"""`checkpoint`: saving and loading 1 GB, and how long training stands still for a save beside it."""
import os
import subprocess
import tempfile
import time

from . import measure, places, report

MEGABYTES = "1000"
SAVED = "run/step-000000001/model.safetensors"


def ours(what, folder):
    [result], _ = measure.run([places.program("bench-checkpoint"), what, os.path.join(folder, "run"), MEGABYTES], ranks=1)
    return result


def torch(what, folder):
    [result], _ = measure.run([places.PYTHON, places.peer("checkpoint.py"), what, folder, MEGABYTES], ranks=1)
    return result


def dd(folder):
    """The same bytes written and synced, from a file that is in memory."""
    source, target = os.path.join(folder, SAVED), os.path.join(folder, "copy")
    command = ["dd", f"if={source}", f"of={target}", "bs=1M", "conv=fsync"]
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - begin
    os.remove(target)
    return {"s": seconds}


def compare(case, runs, peers, unit="s", value="s"):
    return [report.entry(case, [run[value] for run in runs["ours"]], [run[value] for run in runs[peer]], peer_name=peer,
                         unit=unit, ranks=1, threads=1, front_end="cpp") for peer in peers]


def save(folder, rounds, progress):
    sides = {"ours": lambda: ours("save", folder), "dd": lambda: dd(folder), "torch.save": lambda: torch("save", folder)}
    sides["ours"]()
    runs = measure.alternate(sides, rounds, progress)
    return compare("save", runs, ["dd", "torch.save"])


def load(folder, rounds, progress):
    ours("save", folder), torch("save", folder)
    sides = {"ours": lambda: ours("load", folder), "read": lambda: ours("read", folder),
             "torch.load": lambda: torch("load", folder)}
    for side in sides.values():  # files into memory
        side()
    runs = measure.alternate(sides, rounds, progress)
    memory = [report.entry("load-memory", [run["mb"] for run in runs["ours"]], [float(MEGABYTES)] * rounds,
                           peer_name="the state", unit="MB", ranks=1, threads=1, front_end="cpp")]
    return compare("load", runs, ["read", "torch.load"]) + memory


def async_pause(folder, rounds, progress):
    runs = measure.alternate({"ours": lambda: ours("async", folder), "dcp.async_save": lambda: torch("async", folder)},
                             rounds, progress)
    runs["memcpy"] = [{"s": run["memcpy"]} for run in runs["ours"]]
    return compare("async-pause", runs, ["memcpy", "dcp.async_save"])


CASES = {"save": save, "load": load, "async-pause": async_pause}


def benchmark(rounds, progress, only=None):
    entries = []
    for name, case in CASES.items():
        if not only or name in only:
            progress(f" {name}")
            with tempfile.TemporaryDirectory(dir=places.RESULTS) as folder:
                entries += case(folder, rounds, progress)
    return entries
