"""Clocks that jump, by libfaketime: clock_test.py TANDEM ELASTIC_PROGRAM"""
import re
import socket
import sys
import time

import alone
import training
from training import FaultTest, each_backend

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
STEPS = 200
# Short, so that a wait that counted the clock on the wall would be over.
LIMITS = ["--step-timeout", "20", "--silence-timeout", "20"]


class Clock:
    """The time of day of whoever has its environment; time that passes (CLOCK_MONOTONIC) is as ever, as on a machine whose clock is set."""

    def __init__(self, folder):
        self.file = folder / "clock"
        self.file.write_text("+0\n")
        self.environment = {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
                            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}

    def jump(self, offset):
        part = self.file.with_suffix(".part")
        part.write_text(offset + "\n")
        part.rename(self.file)

    def now(self):
        shown = alone.subprocess.run(["date", "+%s"], stdout=alone.subprocess.PIPE, text=True, check=True, timeout=10,
                                     env=alone.os.environ | self.environment)
        return int(shown.stdout)


class Jumps(FaultTest):
    def setUp(self):
        super().setUp()
        self.clock = Clock(self.folder.new("clock"))

    def jump_about(self, job, at):
        """Hours forward, and back to before the start."""
        for offset in ("+6h", "-6h", "+300d", "+0"):
            job.reaches(at)
            before = self.clock.now()
            self.clock.jump(offset)
            self.assertFalse(job.ended(), job.said)
            self.assertGreater(abs(self.clock.now() - before), 3600)
            at += 25

    @each_backend
    def test_on_one_machine_change_nothing(self, backend):
        saved = self.folder.new("saved")
        job = self.train(["-n", "2", *LIMITS], f"BACKEND={backend}", f"STEPS={STEPS}", "PAUSE=15", f"CHECKPOINTS={saved}", "CHECKPOINT_EVERY=20",
                         environment=self.clock.environment)
        self.jump_about(job, 10)
        self.assertEqual(job.finish(), 0, job.said)
        self.assertEqual(job.said, "")
        self.assert_trained([job], STEPS, same=(2, backend), ranks=2)
        self.assertEqual((saved / "latest").read_text(), f"step-{STEPS:09}\n")

    @each_backend
    def test_of_one_of_two_nodes_change_nothing(self, backend):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        flags = ["-n", "1", "--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-conf",
                 "keep_alive_interval=5,last_call_timeout=0", *LIMITS]
        settings = [f"BACKEND={backend}", f"STEPS={STEPS}", "PAUSE=15"]
        right = self.train(flags, *settings)
        other = self.train(flags, *settings, environment=self.clock.environment)
        at = 10
        for offset in ("+6h", "-6h", "+0"):
            alone.eventually(lambda at=at: max(right.step(), other.step()) >= at or right.ended(), lambda: right.said + other.said)
            self.clock.jump(offset)
            self.assertFalse(right.ended() or other.ended(), right.said + other.said)
            at += 30
        for job in (right, other):
            (job.folder / "hurry").touch()
        for job in (right, other):
            self.assertEqual(job.wait(), 0, job.said)
            self.assertEqual(job.said, "")
        self.assert_trained([right, other], STEPS, same=(2, backend), ranks=2)

    @each_backend
    def test_a_hang_is_still_found(self, backend):
        job = self.train(["-n", "2", "--step-timeout", "3"], f"BACKEND={backend}", "FAULTS=hang-forward@10/1", "STEPS=40", "PAUSE=5",
                         environment=self.clock.environment)
        alone.eventually(lambda: (job.folder / "once.hang-forward.10.1").exists() or job.ended(), "it hangs")
        began = time.monotonic()
        self.clock.jump("-6h")
        self.assertEqual(job.wait(), 0, job.said)
        self.assertLess(time.monotonic() - began, 40)
        self.assertTrue(re.search("has completed no step for 3 s", job.said), job.said)
        self.assert_trained([job], 40)


if __name__ == "__main__":
    if not alone.os.path.exists(LIBRARY):
        alone.skip("libfaketime is not installed; script/bootstrap --schedulers installs it")
    alone.enter()
    training.main(sys.argv)
