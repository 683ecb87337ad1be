"""Faults of all kinds, drawn at random, one after the other and together, for as long as ROUNDS last:
random_test.py TANDEM ELASTIC_PROGRAM ROUNDS CHECKPOINT_READER

Prints a seed for each round; TANDEM_FAULT_SEED=N repeats that round alone."""
import os
import random
import signal
import socket
import subprocess
import sys
import time

import alone
import clock_test
import storage_test
import training
from training import BACKENDS, FaultTest

ROUNDS = 1  # set below
FAULTS = 5  # a round
ETCD = "etcd"


class Etcd:
    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            self.client, self.peer = one.getsockname()[1], other.getsockname()[1]
        self.process = None
        self.start()

    def start(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.client, self.peer))
        with open(self.folder / "etcd.said", "ab") as said:
            self.process = subprocess.Popen(
                ["etcd", "--name", "one", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
                 f"one={peer}", "--log-level", "error"], stdout=said, stderr=said)
        alone.eventually(self.answers, "etcd answers")

    def answers(self):
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.client)) == 0

    def kill(self):
        alone.end(self.process)


class Round:
    """A job on one machine, or of several nodes that meet by c10d or etcd, and what is done to it."""

    def __init__(self, test, seed):
        self.test, self.random = test, random.Random(seed)
        self.kind = self.random.choice(["one machine", "same size", "c10d", ETCD if alone.machines.shutil.which("etcd") else "c10d"])
        self.backend = self.random.choice(BACKENDS)
        self.steps = 200
        # What the program does to itself, each once.
        own = [f"{self.random.choice(['hang', 'exit', 'throw', 'segv'])}-{self.random.choice(['forward', 'backward', 'commit', 'begin'])}"
               f"@{self.random.randrange(4, 100, 4)}/{self.random.randrange(6)}" for _ in range(self.random.randrange(4))]
        self.settings = [f"FAULTS={','.join(own)}", f"BACKEND={self.backend}", f"STEPS={self.steps}", "PAUSE=25", f"COMMIT_EVERY={self.random.choice([1, 2, 4])}",
                         f"PAD={self.random.choice([0, 0, 8])}", "TIMEOUT=30000", training.SAME_BITS]
        self.folder = test.folder.new("round")
        self.disk = self.folder / "small"
        self.disk.mkdir()
        self.saves = self.random.random() < 0.5
        if self.saves:
            alone.call("mount", "-t", "tmpfs", "-o", "size=64m", "none", self.disk)
            self.settings += [f"CHECKPOINTS={self.disk}/run", "CHECKPOINT_EVERY=8"]
        self.clock = clock_test.Clock(self.folder) if os.path.exists(clock_test.LIBRARY) and self.random.random() < 0.5 else None
        self.etcd = Etcd(self.folder) if self.kind == ETCD else None
        self.jobs, self.stopped = [], []
        self.harmed = []  # jobs that may end as they like
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        print(f"seed {seed}: {self.kind}, {' '.join(self.settings)}", flush=True)

    def flags(self):
        limits = ["--step-timeout", "10", "--silence-timeout", "10"]
        if self.kind == "one machine":
            return ["-n", "3", "--max-restarts", "100", *limits]
        if self.kind == "same size":
            return ["-n", "3", "--min-ranks", "3", "--max-restarts", "100", *limits]
        endpoint = self.etcd.client if self.etcd else self.port
        conf = "keep_alive_interval=1,join_timeout=50,last_call_timeout=0" + (",lease_ttl=2" if self.etcd else "")
        return ["-n", "1", "--nnodes", "1:4", "--rdzv-backend", ETCD if self.etcd else "c10d", "--rdzv-endpoint", f"127.0.0.1:{endpoint}",
                "--rdzv-id", "job", "--rdzv-conf", conf, "--max-restarts", "100", *limits]

    def add(self):
        self.jobs.append(self.test.train(self.flags(), *self.settings, environment=self.clock.environment if self.clock else None))
        return self.jobs[-1]

    def alive(self):
        return [job for job in self.jobs if not job.ended()]

    def workers(self):
        """Of all nodes; never the last, which may be all that has what was learned."""
        found = [pid for job in self.alive() for pid in job.members().values()]
        return found if len(found) > 1 or self.kind == "same size" else []

    def kinds(self):
        """What can be done now."""
        workers, guests = self.workers(), self.guests()
        kinds = []
        if workers:
            kinds += ["worker", "stopped worker", "stopped worker for a moment"]
        if len(workers) > 2:
            kinds += ["two workers"]
        if self.kind in ("c10d", ETCD):
            kinds += ["new node", "storm"]
        if guests:
            kinds += ["node", "node is told", "stopped agent"]
        if self.etcd:
            kinds += ["etcd"]
        if self.saves and self.step() < 120:  # the last checkpoint would be an error
            kinds += ["full disk"]
        if self.clock:
            kinds += ["clock"]
        return kinds

    def step(self):
        return max(job.step() for job in self.jobs)

    def guests(self):
        """Nodes that may be lost: with c10d all but the first, which keeps the membership; never the last."""
        nodes = self.alive()[0 if self.etcd else 1:]
        return nodes if len(self.alive()) > 2 else []

    def harm(self):
        kinds = self.kinds()
        kind = self.random.choice(kinds) if kinds else "nothing can be done"
        print(f"  at step {self.step()}: {kind}", flush=True)
        workers, guests = sorted(self.workers()), self.guests()
        if kind == "worker" and workers:
            alone.kill(self.random.choice(workers), self.random.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT]))
        elif kind == "two workers" and len(workers) > 2:
            for pid in self.random.sample(workers, 2):
                alone.kill(pid)
        elif kind == "stopped worker" and workers:
            alone.kill(self.random.choice(workers), signal.SIGSTOP)
        elif kind == "stopped worker for a moment" and workers:
            pid = self.random.choice(workers)
            alone.kill(pid, signal.SIGSTOP)
            time.sleep(self.random.uniform(0, 2))
            if alone.is_alive(pid):
                alone.kill(pid, signal.SIGCONT)
        elif kind == "new node":
            self.add()
        elif kind == "storm":
            for _ in range(2):
                self.add()
        elif kind in ("node", "node is told", "stopped agent") and guests:
            job = self.random.choice(guests)
            self.harmed.append(job)
            if kind == "node":
                job.process.kill()
            elif kind == "node is told":
                job.process.send_signal(signal.SIGTERM)
            elif agents := alone.children_of(job.process.pid):
                alone.kill(agents[0], signal.SIGSTOP)
                self.stopped.append(agents[0])
        elif kind == "clock":
            self.clock.jump(self.random.choice(["+6h", "-6h", "+300d", "+0"]))
        elif kind == "full disk":
            storage_test.fill(self.disk / "other")
            time.sleep(self.random.uniform(0, 1))
            (self.disk / "other").unlink()
        elif kind == "etcd":
            self.etcd.kill()
            time.sleep(self.random.uniform(0, 4))
            self.etcd.start()

    def run(self):
        first = self.add()
        alone.eventually(lambda: first.step() >= 5 or first.ended(), lambda: first.said)
        if self.kind in ("c10d", ETCD):
            for _ in range(2):
                self.add()
        for _ in range(FAULTS):
            time.sleep(self.random.uniform(0, 1.5))
            if not self.alive():
                break
            self.harm()
        alone.eventually(self.is_over, lambda: "it ends:\n" + "\n".join(job.said for job in self.jobs), 120)
        for pid in self.stopped:
            if alone.is_alive(pid):
                alone.kill(pid, signal.SIGCONT)
        for job in self.jobs:
            job.wait()
        said = "\n".join(f"{job.process.returncode}: {job.said}" for job in self.jobs)
        self.test.assertIn(0, [job.process.returncode for job in self.jobs], said)
        # Others than those that were harmed end well, if they came in time to train.
        self.test.assertEqual([job.process.returncode for job in self.jobs if job not in self.harmed and job.trains() and job.process.returncode], [], said)
        if self.saves:
            run = self.disk / "run"
            self.test.assertEqual(storage_test.newest(run), self.steps, said)
            self.test.assertEqual([entry.name for entry in run.iterdir() if entry.name.endswith(".tmp")], [], said)
        self.test.assert_trained([job for job in self.jobs], self.steps, same=(3, self.backend) if self.kind == "same size" else None)
        if self.etcd:
            self.etcd.kill()
        self.test.assert_nothing_left()

    def is_over(self):
        """Whoever is not stopped has ended."""
        return all(job.ended() or set(alone.children_of(job.process.pid)) & set(self.stopped) for job in self.jobs)


class Rounds(FaultTest):
    def test_rounds(self):
        if given := os.environ.get("TANDEM_FAULT_SEED"):
            self.round(int(given))
            return
        for number in range(ROUNDS):
            seed = int.from_bytes(os.urandom(4), "little")
            with self.subTest(seed=seed, round=number):
                self.setUp()
                self.round(seed)

    def round(self, seed):
        one = Round(self, seed)
        try:
            one.run()
        finally:
            if one.etcd:
                one.etcd.kill()
            self.tearDown()
            if one.saves:
                alone.call("umount", "-l", one.disk)


if __name__ == "__main__":
    alone.enter()
    ROUNDS = int(sys.argv.pop(3))
    storage_test.load_reader(sys.argv.pop(3))
    training.main(sys.argv)
