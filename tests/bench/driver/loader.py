"""`loader`: records a second, from files to batches, and what opening many files takes."""
from . import loader_files, loader_jpeg, loader_open, loader_shuffled

CASES = {loader_shuffled.CASE: loader_shuffled.benchmark, loader_jpeg.CASE: loader_jpeg.benchmark,
         **{case: lambda *run, case=case: loader_files.benchmark(case, *run) for case in loader_files.CASES},
         **{case: lambda *run, case=case: loader_open.benchmark(case, *run) for case in loader_open.CASES}}


def own_runs(only):
    own = {loader_shuffled.CASE: loader_shuffled.own_runs, loader_jpeg.CASE: loader_jpeg.own_runs,
           **{case: lambda case=case: loader_files.own_runs(case) for case in loader_files.CASES},
           **{case: lambda case=case: loader_open.own_runs(case) for case in loader_open.CASES}}
    for name, runs in own.items():
        if not only or name in only:
            yield from runs()


def benchmark(rounds, progress, only=None):
    entries = []
    for name, case in CASES.items():
        if not only or name in only:
            progress(f" {name}")
            entries += case(rounds, progress)
    return entries
