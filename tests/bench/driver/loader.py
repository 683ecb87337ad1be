"""`loader`: records a second, from files to batches."""
from . import loader_shuffled

CASES = {loader_shuffled.CASE: loader_shuffled.benchmark}


def benchmark(rounds, progress, only=None):
    return [entry for name, case in CASES.items() if not only or name in only for entry in case(rounds, progress)]
