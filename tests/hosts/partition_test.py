"""Machines that are cut off from etcd and from each other: partition_test.py TANDEM ELASTIC_PROGRAM"""
import os
import pathlib
import subprocess
import sys
import time
import unittest

import machines as two

TANDEM = PROGRAM = MACHINES = None  # set below
STEPS = 300


def setUpModule():
    global MACHINES, ETCD
    MACHINES = two.Machines().__enter__()
    ETCD = two.Etcd(MACHINES.folder)


def tearDownModule():
    ETCD.end()
    MACHINES.__exit__()


class Node:
    """A training's part on one machine."""
    count = 0

    def __init__(self, machine, job, settings=()):
        Node.count += 1
        self.folder = MACHINES.folder / f"node{Node.count}"
        self.folder.mkdir()
        words = [TANDEM, "run", "--nnodes", "1:2", "--rdzv-backend", "etcd", "--rdzv-endpoint", two.DESK, "--rdzv-id", job, "--rdzv-conf",
                 "lease_ttl=2,keep_alive_interval=1,last_call_timeout=0,join_timeout=60", "--", PROGRAM, self.folder, f"STEPS={STEPS}",
                 "PAUSE=60", "TIMEOUT=60000", *settings]
        with open(self.folder / "said", "wb") as said:
            self.process = subprocess.Popen([str(word) for word in MACHINES.inside(machine, self.folder) + words], stdin=subprocess.DEVNULL,
                                            stdout=said, stderr=said, env=os.environ | {"PATH": two.PATH, "OMP_NUM_THREADS": "1"})

    said = property(lambda self: (self.folder / "said").read_text(errors="replace"))

    def step(self):
        """The newest that this machine's workers have completed."""
        try:
            return int((self.folder / "trains").read_text() or 0)
        except (OSError, ValueError):
            return 0

    def reaches(self, step):
        two.eventually(lambda: self.step() >= step or self.process.poll() is not None, f"step {step}; {self.said}")

    def says(self, text, times=1, patience=40):
        two.eventually(lambda: self.said.count(text) >= times or self.process.poll() is not None, f"{text!r} in {self.said}", patience)

    def result(self):
        for rank in (0, 1):
            if (file := self.folder / f"result.{rank}").exists():
                return [float.fromhex(line) for line in file.read_text().split("\n") if line.startswith(("0x", "-0x"))]
        return []


class Partition(unittest.TestCase):
    def setUp(self):
        self.job = f"job{Node.count}"

    def block(self, machine, address):
        """Until the test ends, or calls doCleanups()."""
        inside = MACHINES.inside(machine)
        MACHINES.call(*inside, "ip", "route", "add", "blackhole", f"{address}/32")
        self.addCleanup(MACHINES.call, *inside, "ip", "route", "del", "blackhole", f"{address}/32")

    def end_well(self, *nodes):
        results = []
        for node in nodes:
            (node.folder / "hurry").touch()  # no pause in steps any more
        for node in nodes:
            self.assertEqual(node.process.wait(two.PATIENCE), 0, node.said)
            results.append(node.result())
        alone = Node("beta", f"{self.job}-alone", ["PAUSE=0"])  # the last that is said of a setting counts
        self.assertEqual(alone.process.wait(two.PATIENCE), 0, alone.said)
        for result in results:
            self.assertEqual(len(result), len(alone.result()))
            for one, other in zip(result, alone.result()):
                self.assertAlmostEqual(one, other, delta=1e-11)

    def test_the_side_that_etcd_serves_goes_on(self):
        keeper = Node("alpha", self.job)
        keeper.reaches(3)
        other = Node("beta", self.job)
        other.reaches(8)
        with_both = other.said.count("now 2 ranks, from step")
        MACHINES.cut_off("alpha")
        other.says("now 1 rank, from step")
        at = other.step()
        other.reaches(at + 20)
        stood = keeper.step()
        time.sleep(1)
        self.assertEqual(keeper.step(), stood, keeper.said)  # it waits for who is elected
        MACHINES.join_again("alpha")
        other.says("now 2 ranks, from step", times=with_both + 1)
        self.end_well(keeper, other)

    def test_a_keeper_that_alone_cannot_reach_etcd_is_replaced(self):
        keeper = Node("alpha", self.job, ["PAUSE=150"])
        keeper.reaches(3)
        other = Node("beta", self.job, ["PAUSE=150"])
        other.reaches(8)
        self.block("alpha", two.DESK)
        other.says("this agent keeps the job's membership now")
        other.says("now 1 rank, from step")
        at = other.step()
        other.reaches(at + 5)
        with_both = other.said.count("now 2 ranks, from step")
        self.doCleanups()
        other.says("now 2 ranks, from step", times=with_both + 1)
        self.end_well(keeper, other)

    def test_what_is_cut_off_writes_no_checkpoint(self):
        kept = MACHINES.folder / f"kept{Node.count}"
        saves = [f"CHECKPOINTS={kept}", "CHECKPOINT_EVERY=4", "BACKEND=shm"]  # between hosts that is Gloo, with a failure channel
        keeper = Node("alpha", self.job, saves)
        keeper.reaches(12)
        MACHINES.cut_off("alpha")
        keeper.says("a checkpoint is not written")
        newest = (kept / "latest").read_text()
        at = keeper.step()
        keeper.reaches(at + 1)  # and goes on
        self.assertEqual((kept / "latest").read_text(), newest)
        other = Node("beta", self.job, saves)
        other.reaches(1)
        seen = []
        end = time.monotonic() + 4
        while time.monotonic() < end:
            seen.append((kept / "latest").read_text())
            time.sleep(0.05)
        self.assertEqual(seen, sorted(seen))
        self.assertGreater(seen[-1], newest, other.said)
        MACHINES.join_again("alpha")
        other.says("now 2 ranks, from step")
        self.end_well(keeper, other)


if __name__ == "__main__":
    two.enter(["etcd"])
    TANDEM, PROGRAM = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1], verbosity=2)
