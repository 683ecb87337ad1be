"""What befalls the workers of one machine: ranks_test.py TANDEM ELASTIC_PROGRAM"""
import os
import re
import signal
import socket
import sys
import time

import alone
import training
from training import FaultTest, each_backend

STEPS, COMMIT_EVERY = 40, 4  # as elastic_program has them
# With --min-ranks of all of them every step that counts is made by all: the result has the bits of an undisturbed run.
THREE = ["-n", "3", "--min-ranks", "3", "--max-restarts", "20"]
BITS = training.SAME_BITS


class Lost(FaultTest):
    @each_backend
    def test_two_at_once(self, backend):
        job = self.train(THREE, f"BACKEND={backend}", BITS, "PAUSE=20")
        job.reaches(6)
        members, step = job.members(), job.step()
        for member in (0, 2):
            os.kill(members[member], signal.SIGKILL)
        self.assertEqual(job.finish(), 0, job.said)
        back_to = [int(number) for number in re.findall(r"from step (\d+) on", job.said)]
        self.assertTrue(back_to, job.said)
        self.assertGreaterEqual(back_to[0], step - COMMIT_EVERY, job.said)  # what it costs at most
        self.assertEqual(job.said.count("was killed by SIGKILL (signal 9); another one takes its place"), 2, job.said)
        self.assert_trained([job], STEPS, same=(3, backend), ranks=3)

    @each_backend
    def test_all_at_once(self, backend):
        job = self.train(THREE, f"BACKEND={backend}", BITS, "PAUSE=20", f"CHECKPOINTS={self.folder.path}/all-{backend}", "CHECKPOINT_EVERY=4")
        job.reaches(14)
        for pid in job.members().values():
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(job.finish(), 0, job.said)
        self.assertEqual(job.said.count("was killed by SIGKILL (signal 9); another one takes its place"), 3, job.said)
        steps = job.text("steps").split()
        self.assertEqual(steps.count("4"), 1, job.said)  # it was in a checkpoint
        self.assert_trained([job], STEPS, same=(3, backend), ranks=3)


class Moments(FaultTest):
    """Kills in the midst of what takes a moment. State of 24 MiB makes that moment longer."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = alone.draw()

    def kill_one(self, job):
        if members := job.members():
            alone.kill(self.random.choice(sorted(members.values())))

    def samples_of(self, job, epoch):
        """Whether any rank had come to its first step in a membership epoch."""
        return [line for file in job.folder.glob("samples.*") for line in job.text(file.name).splitlines() if int(line.split()[0]) == epoch]

    @each_backend
    def test_in_a_rendezvous_and_while_state_is_sent(self, backend):
        job = self.train(THREE, f"BACKEND={backend}", BITS, "PAUSE=20", "PAD=64", "COMMIT_EVERY=2", "STEPS=120")
        job.reaches(4)
        self.kill_one(job)
        last, hits = 1, 0
        for _ in range(12):  # an epoch that has just been formed: its ranks connect, and those that are new are sent the state
            last = alone.eventually(lambda last=last: self.newer_epoch(job, last) or job.ended(), lambda: f"another epoch: {job.said}")
            self.assertFalse(job.ended(), job.said)
            time.sleep(self.random.uniform(0, 0.15))
            self.kill_one(job)
            hits += not self.samples_of(job, last)
            if hits == 2:
                break
        self.assertEqual(hits, 2, job.said)
        self.assertEqual(job.finish(), 0, job.said)
        self.assert_trained([job], 120, same=(3, backend), ranks=3)

    def newer_epoch(self, job, than):
        newest = max(map(int, re.findall(r"\(membership epoch (\d+)\)", job.said)), default=1)
        return newest if newest > than else None

    @each_backend
    def test_in_the_first_rendezvous(self, backend):
        for attempt in range(1, 9):
            job = self.train(THREE, f"BACKEND={backend}", BITS, "PAUSE=20")
            alone.eventually(lambda job=job: (job.folder / "waits.1").exists(), "a worker is about to meet the others")
            time.sleep(self.random.uniform(0, 0.15 / attempt))
            self.kill_one(job)
            in_time = not self.samples_of(job, 1)
            self.assertEqual(job.finish(), 0, job.said)
            self.assertIn("was killed by SIGKILL", job.said)
            self.assert_trained([job], STEPS, same=(3, backend), ranks=3)
            if in_time:
                return
        self.fail("each kill came after the rendezvous")

    @each_backend
    def test_in_a_commit(self, backend):
        # Before it copies anything, and while it copies 32 MiB beside the next step, or soon after.
        for kind, pad, moment in (("kill", 4, 0), ("soon", 32, self.random.randrange(10_000))):
            commits = self.random.sample(range(2, STEPS - 6, 2), 2)  # "soon" is before the end
            faults = ",".join(f"{kind}-commit@{step}/{member}" for member, step in enumerate(commits))
            print(faults, moment, flush=True)
            job = self.train(THREE, f"BACKEND={backend}", BITS, f"PAD={pad}", "COMMIT_EVERY=2", f"FAULTS={faults}", f"MOMENT={moment}")
            self.assertEqual(job.finish(), 0, job.said)
            self.assertEqual(job.said.count("was killed by SIGKILL (signal 9); another one takes its place"), 2, job.said)
            self.assert_trained([job], STEPS, same=(3, backend), ranks=3)


class Samples(FaultTest):
    """A sample that ends whoever trains on it, each time."""

    @each_backend
    def test_that_crashes(self, backend):
        job = self.train(["-n", "2", "--max-restarts", "1"], f"BACKEND={backend}", "BAD_SAMPLE=77", "BAD=crash", "COMMIT_EVERY=1")
        self.assertEqual(job.wait(), 128 + signal.SIGSEGV, job.said)
        self.assertEqual(job.said.count("another one takes its place"), 1, job.said)
        [step] = {int(line.split()[1]) for file in job.folder.glob("samples.*") for line in file.read_text().splitlines()
                  if "77" in line.split()[2:]}
        self.assertRegex(job.said, rf"now 1 rank.*, from step {step - 1} on")  # its batch comes next

    @each_backend
    def test_that_cannot_be_read(self, backend):
        job = self.train(["-n", "2", "--max-restarts", "1"], f"BACKEND={backend}", "BAD_SAMPLE=77", "COMMIT_EVERY=1")
        self.assertEqual(job.wait(), 1, job.said)
        self.assertEqual(job.said.count("another one takes its place"), 1, job.said)
        self.assertIn("cannot load sample 77", job.said.splitlines()[-1], job.said)
        self.assertIn("its bytes are damaged", job.said)


class Ports(FaultTest):
    def test_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            job = self.train(["--master-port", port, "--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1"], "BACKEND=gloo")
            self.assertEqual(job.wait(), 1, job.said)
            self.assertRegex(job.said, f"in use.*{port}|{port}.*in use")
        self.assert_nothing_left()

    def test_whose_listener_is_no_agent(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            job = self.train(["--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-conf",
                              "join_timeout=4"], "BACKEND=gloo")
            self.assertEqual(job.wait(), 1, job.said)
            self.assertIn(f"127.0.0.1:{port}", job.said)
        self.assert_nothing_left()


if __name__ == "__main__":
    alone.enter()
    training.main(sys.argv)
