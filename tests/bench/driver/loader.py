"""`loader`: records a second, from files to batches, and what opening many files takes."""
from . import loader_files, loader_jpeg, loader_open, loader_shuffled

CASES = {loader_shuffled.CASE: loader_shuffled.benchmark, loader_jpeg.CASE: loader_jpeg.benchmark,
         **{case: lambda *run, case=case: loader_files.benchmark(case, *run) for case in loader_files.CASES},
         **{case: lambda *run, case=case: loader_open.benchmark(case, *run) for case in loader_open.CASES}}


def benchmark(rounds, progress, only=None):
    entries = []
    for name, case in CASES.items():
        if not only or name in only:
            progress(f" {name}")
            entries += case(rounds, progress)
    return entries
