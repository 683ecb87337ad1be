"""Starts programs and collects what their ranks report."""
import json
import os
import signal
import subprocess
import tempfile
import time


class BenchError(Exception):
    """A run that failed, or two sides that disagree."""


def run(command, *, ranks, timeout=300, environment=()):
    """Runs `command`; each of its ranks writes rank-N.json into the folder BENCH_OUT.

    Returns (reports in order of rank, wall-clock time of the start). Raises BenchError with the output's end when the
    command fails, hangs or leaves a report out.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        settings = {**os.environ, **dict(environment), "BENCH_OUT": folder, "OMP_NUM_THREADS": "1"}
        started_at = time.time()
        process = subprocess.Popen(command, env=settings, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = f"no end after {timeout} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        reports = []
        if code == 0:
            for rank in range(ranks):
                path = os.path.join(folder, f"rank-{rank}.json")
                if not os.path.exists(path):
                    code = f"no report of rank {rank}"
                    break
                with open(path) as file:
                    reports.append(json.load(file))
        if code != 0:
            output.seek(0)
            text = output.read().decode(errors="replace")
            raise BenchError(f"{' '.join(map(str, command))}: {code}\n{text[-3000:]}")
        return reports, started_at


def run_tool(*command, timeout=120, environment=()):
    """Runs a program that writes no reports, and gives what it prints."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout,
                          env={**os.environ, **dict(environment)})
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))}: {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def alternate(sides, rounds, progress=print):
    """Runs each of `sides` ({name: function that returns a measurement}) once a round, and returns {name: [...]}.

    The order turns with every round, so that no side always runs on a machine that the same other one warmed up.
    """
    results = {name: [] for name in sides}
    names = list(sides)
    for number in range(rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            results[name].append(sides[name]())
        progress(f"  round {number + 1} of {rounds}")
    return results
