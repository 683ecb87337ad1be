"""Launches of the real tool, for tests of what it says of its ranks."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

PATIENCE = 60  # seconds


def eventually(found, what, patience=PATIENCE):
    """What `found()` gives once that is something."""
    end = time.monotonic() + patience
    while not (value := found()):
        if time.monotonic() > end:
            raise AssertionError(f"after {patience} s still not: {what}")
        time.sleep(0.05)
    return value


class Launch:
    """A `tandem run`, with its output in files of a folder. As a context it is ended with the block."""

    def __init__(self, tandem, folder, flags, program, environment={}):
        self.tandem, self.folder = tandem, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            self.process = subprocess.Popen([tandem, "run", *map(str, flags), "--", *map(str, program)], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment)

    out = property(lambda self: (self.folder / "out").read_text(errors="replace"))
    err = property(lambda self: (self.folder / "err").read_text(errors="replace"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def wait(self):
        return self.process.wait(PATIENCE)

    def supervisor(self):
        """The process that starts the workers."""
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        return int(eventually(lambda: children.read_text().split(), "a supervisor")[0])

    def top(self, job=None):
        """What `tandem top --once --json` says; nothing where it fails."""
        done = subprocess.run([self.tandem, "top", "--once", "--json", str(job or self.process.pid)], capture_output=True, text=True,
                              timeout=PATIENCE)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def top_when(self, holds, what, job=None):
        def look():
            said = self.top(job)
            return said if said and holds(said) else None
        try:
            return eventually(look, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.top(job)}\n{self.out}{self.err}") from None


def reported(said, ranks, step=1):
    """Whether so many ranks have come to that step."""
    return sum(one.get("step", 0) >= step for one in said["ranks"]) == ranks


def numbers(text, name):
    """{labels: value} of a metric in the text format of Prometheus."""
    found = {}
    for labels, value in re.findall(rf"^{name}\{{([^}}]*)\}} (\S+)", text, re.M):
        found[tuple(sorted(re.findall(r'(\w+)="([^"]*)"', labels)))] = float(value)
    return found


def main(count):
    """The first `count` arguments, for a test program that then runs its tests."""
    if len(sys.argv) < count + 1:
        sys.exit("too few arguments")
    found = sys.argv[1:count + 1]
    del sys.argv[1:count + 1]
    return found
