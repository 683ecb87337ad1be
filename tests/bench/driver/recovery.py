"""`recovery`: from the death of a worker, or of an agent, to the next completed step, and what it costs to be ready for that."""
import itertools
import os
import re
import signal
import subprocess
import tempfile
import time

from . import measure, places, rendezvous, report

LIMITS = {"survivors-2": 0.15, "survivors-4": 0.15, "full-2": 0.4, "spare-2": 0.2, "keeper-2": 1, "scale-up": 1, "commit-100MB": 1.2,
          "no-failure": 1}
STEPS_BEFORE = 20
PATIENCE = 60  # seconds


class Training:
    """A launcher whose workers write what they complete into a folder."""

    def __init__(self, command, environment=()):
        self.folder = tempfile.TemporaryDirectory()
        self.output = tempfile.TemporaryFile()
        settings = {**os.environ, **dict(environment), "BENCH_OUT": self.folder.name, "OMP_NUM_THREADS": "1"}
        self.command = command
        self.launcher = subprocess.Popen(command, env=settings, stdin=subprocess.DEVNULL, stdout=self.output,
                                         stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.launcher.terminate()
        try:
            self.launcher.wait(20)
        except subprocess.TimeoutExpired:
            pass
        for group in {self.launcher.pid, *self.workers()}:
            try:
                os.killpg(group, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self.launcher.wait()
        self.output.close()
        self.folder.cleanup()

    def workers(self):
        """By process: when it started, and its completed steps as (rank, world, step, time)."""
        found = {}
        for name in os.listdir(self.folder.name):
            if not name.startswith("steps-"):
                continue
            with open(os.path.join(self.folder.name, name)) as file:
                lines = [line.split() for line in file.read().split("\n")[:-1]]
            if not lines:
                continue
            steps = [(int(line[0]), int(line[1]), int(line[2]), float(line[3])) for line in lines[1:] if len(line) == 4]
            found[int(name[len("steps-"):])] = (float(lines[0][1]), steps)
        return found

    def wait(self, condition, what):
        """What `condition` gives of workers(), once that is something."""
        end = time.time() + PATIENCE
        while time.time() < end:
            if found := condition(self.workers()):
                return found
            if self.launcher.poll() is not None:
                break
            time.sleep(0.02)
        self.output.seek(0)
        text = self.output.read().decode(errors="replace")
        raise measure.BenchError(f"{' '.join(map(str, self.command))}: {what} never came\n{text[-3000:]}")

    def warm_up(self, ranks):
        """Until so many workers here have made some steps. Gives their steps, by process."""
        def warm(workers):
            training = {process: steps for process, (_, steps) in workers.items() if len(steps) >= STEPS_BEFORE}
            return training if len(training) == ranks else None
        return self.wait(warm, f"step {STEPS_BEFORE} of {ranks} ranks")

    def kill_agent(self):
        """Both of its processes. Gives the time."""
        with open(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children") as file:
            agent = [int(word) for word in file.read().split()]
        at = time.time()
        for process in [*agent, self.launcher.pid]:
            os.kill(process, signal.SIGKILL)
        return at

    def kill_one(self, ranks):
        """Kills the last rank once all have made some steps. Gives (its process, the time)."""
        training = self.warm_up(ranks)
        victim = next(process for process, steps in training.items() if steps[-1][0] == ranks - 1)
        at = time.time()
        os.kill(victim, signal.SIGKILL)
        return victim, at


def first_step(workers, at, wanted):
    times = [step[3] for process, (_, steps) in workers.items() for step in steps if step[3] > at and wanted(process, step)]
    return min(times, default=None)


def ours(ranks, flags, case):
    command = [places.program("tandem"), "run", "-n", str(ranks), *flags, "--", places.program("bench-recovery"), "train"]
    with Training(command) as training:
        before = None
        victim, at = training.kill_one(ranks)
        before = {process for process, (_, steps) in training.workers().items() if steps}
        if case.startswith("survivors"):
            done = training.wait(lambda workers: first_step(workers, at, lambda p, step: step[1] == ranks - 1), "a step of the others")
            return {case: done - at}
        done = training.wait(lambda workers: first_step(workers, at, lambda p, step: p not in before and step[1] == ranks),
                             "a step of all ranks")
        started = next(start for process, (start, steps) in training.workers().items() if process not in before)
        return {case: done - at, "scale-up": done - started}


def keeper(place, job):
    """Of two agents that meet by etcd, the one that keeps the membership is lost."""
    command = [places.program("tandem"), "run", "-n", "1", "--nnodes", "1:2", "--rdzv-backend", "etcd", "--rdzv-endpoint", place,
               "--rdzv-id", job, "--", places.program("bench-recovery"), "train"]
    with Training(command) as first:
        first.wait(lambda _: rendezvous.has_key(place, f"/tandem/{job}/keeper"), "its election")
        with Training(command) as other:
            first.warm_up(1)
            other.warm_up(1)
            at = first.kill_agent()
            done = other.wait(lambda workers: first_step(workers, at, lambda p, step: step[1] == 1), "a step of the other")
            return {"keeper-2": done - at}


def peer(ranks):
    # A static rendezvous would have the workers of the second attempt read the first one's addresses.
    command = [places.PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "--max-restarts", "3",
               places.peer("recovery.py")]
    # Without it workers that are started again hang over Gloo.
    with Training(command, {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}) as training:
        _, at = training.kill_one(ranks)
        before = {process for process, (start, _) in training.workers().items() if start < at}
        done = training.wait(lambda workers: first_step(workers, at, lambda p, step: p not in before), "a step after the restart")
        return {"restart": done - at}


def report_of(*arguments):
    reports, _ = measure.run([places.program("bench-recovery"), *arguments], ranks=1)
    return reports[0]


def benchmark(rounds, progress, only=None):
    cases = [case for case in LIMITS if not only or case in only]
    entries = []

    def add(case, mine, theirs, name, unit="s", ranks=1):
        entries.append(report.entry(case, mine, theirs, name, unit, ranks=ranks, threads=1, front_end="cpp"))
        held = entries[-1]["ratio"] <= LIMITS[case]
        progress(f"  {case}: {entries[-1]['ratio']:.3f} of {name}, at most {LIMITS[case]} wanted{'' if held else ': MISSED'}")

    joined = []
    for case, flags in (("survivors-2", []), ("survivors-4", []), ("full-2", ["--max-restarts", "1"]), ("spare-2", ["--spares", "1"])):
        if case not in cases and not (case == "full-2" and "scale-up" in cases):
            continue
        ranks = int(re.search(r"\d+$", case).group())
        progress(f" {case}")
        results = measure.alternate({"ours": lambda: ours(ranks, flags, case), "torchrun": lambda: peer(ranks)}, rounds, progress)
        if case == "full-2":
            joined = [run["scale-up"] for run in results["ours"]]
        if case in cases:
            add(case, [run[case] for run in results["ours"]], [run["restart"] for run in results["torchrun"]], "torchrun", ranks=ranks)
    if "keeper-2" in cases:
        progress(" keeper-2")
        jobs = (f"job{number}" for number in itertools.count())
        with rendezvous.etcd() as place:
            results = measure.alternate({"ours": lambda: keeper(place, next(jobs)), "torchrun": lambda: peer(2)}, rounds, progress)
        add("keeper-2", [run["keeper-2"] for run in results["ours"]], [run["restart"] for run in results["torchrun"]], "torchrun", ranks=2)
    if "scale-up" in cases:
        add("scale-up", joined, [3.0] * len(joined), "limit-3s", ranks=2)
    if "commit-100MB" in cases:
        progress(" commit-100MB")
        runs = [report_of("commit", "100") for _ in range(rounds)]
        add("commit-100MB", [run["commit"] for run in runs], [run["memcpy"] for run in runs], "memcpy")
    if "no-failure" in cases:
        progress(" no-failure")
        runs = [measure.run(places.tandem_run(1, places.program("bench-recovery"), "steps", "10000"), ranks=1)[0][0]
                for _ in range(rounds)]
        add("no-failure", [run["step_us"] for run in runs], [50.0] * rounds, "limit-50us", "us/step")
    return entries
