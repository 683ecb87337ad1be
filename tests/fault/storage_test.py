"""Disks that fail, are full, or have half a checkpoint: storage_test.py TANDEM ELASTIC_PROGRAM FAILING_DISK|none CHECKPOINT_READER"""
import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import alone
import training
from training import FaultTest, each_backend

STEPS = 300
FAILING_DISK = READER = None  # set below
GOES_ON = "training goes on, and writes the next one when it is due"


@contextlib.contextmanager
def failing_disk(folder):
    """A file system by FUSE; what is written into the second gives the calls that fail."""
    behind, failures, mounted = (folder / name for name in ("behind", "failures", "mounted"))
    behind.mkdir(), mounted.mkdir(), failures.write_text("")
    with open(folder / "disk.said", "wb") as said:
        server = subprocess.Popen([FAILING_DISK, behind, failures, mounted], stdout=said, stderr=said)
    try:
        alone.eventually(lambda: os.path.ismount(mounted) or server.poll() is not None, "it is mounted")
        if server.poll() is not None:
            raise unittest.SkipTest(f"needs FUSE: {(folder / 'disk.said').read_text()}")
        yield mounted, failures
    finally:  # whatever became of it, and whoever uses it still: what failed in the test is to be seen, and not this
        subprocess.run(["umount", "-l", mounted], stderr=subprocess.DEVNULL, check=False, timeout=alone.PATIENCE)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            alone.end(server)


@contextlib.contextmanager
def small_disk(folder, mebibytes):
    mounted = folder / "small"
    mounted.mkdir()
    alone.call("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", mounted)
    try:
        yield mounted
    finally:
        alone.call("umount", "-l", mounted)


def fill(file):
    """Until there is no room left, also where it was before."""
    with open(file, "ab", buffering=0) as opened, contextlib.suppress(OSError):
        while True:
            opened.write(bytes(1 << 14))


def load_reader(file):
    """The program that reads checkpoints without Tandem, as a module."""
    global READER
    spec = importlib.util.spec_from_file_location("reader", file)
    READER = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(READER)


def newest(run):
    """The step of the newest checkpoint, of which each byte is as it was written."""
    step = run / (run / "latest").read_text().strip()
    manifest = READER.json.loads((step / "checkpoint.json").read_text())
    for record in manifest["files"]:
        for _ in READER.tensors(step / record["name"], record):
            pass
    return manifest["step"]


def replace(file, text):
    """As a whole, for who reads it at any time."""
    part = file.with_suffix(".part")
    part.write_text(text)
    part.rename(file)


class Disks(FaultTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder.new("disk")

    def checkpoints(self, run):
        return {entry.name for entry in run.iterdir()} if run.exists() else set()

    def unfinished(self, run):
        return [name for name in self.checkpoints(run) if name.endswith(".tmp")]

    def newest(self, run):
        return newest(run)

    def await_newer(self, job, run, than):
        def newer():
            step = self.settled(run)
            return step if step is not None and step > than else None
        found = alone.eventually(lambda: newer() or job.ended(), lambda: f"a later checkpoint than {than}: {job.said}")
        step = newer() if found is True else found
        self.assertIsNotNone(step, f"it ended without a later checkpoint than {than}: {job.said}")
        return step

    def settled(self, run):
        """newest(), or None where it is replaced while this reads."""
        try:
            return self.newest(run)
        except FileNotFoundError:
            return None

    def saves(self, run, every=4):
        return [f"CHECKPOINTS={run}", f"CHECKPOINT_EVERY={every}", f"STEPS={STEPS}"]


class Failing(Disks):
    @each_backend
    def test_calls_that_fail_cost_a_checkpoint_and_not_the_training(self, backend):
        with failing_disk(self.place) as (mounted, failures):
            run = mounted / "run"
            job = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=30", *self.saves(run))
            newest = self.await_newer(job, run, 0)
            for call, words in {"write": "cannot write", "fsync": "cannot sync", "rename": "cannot rename", "create": "cannot create",
                                "mkdir": "cannot make the folder"}.items():
                replace(failures, call)
                alone.eventually(lambda words=words: job.ended() or re.search(f"was not saved: {words} .*: Input/output error; {GOES_ON}", job.said),
                                 lambda words=words: f"{words}: {job.said}")
                self.assertFalse(job.ended(), job.said)
                replace(failures, "")
                newest = self.await_newer(job, run, newest)
            self.assertEqual(job.finish(), 0, job.said)
            self.assertEqual(self.newest(run), STEPS)
            self.assertGreaterEqual(job.said.count("Input/output error"), 5)
            self.assertRegex(job.said, rf"tandem: checkpoint step-\d+ in {run} was not saved: cannot write {run}/step-\d+.tmp/\S+: "
                                       rf"Input/output error; {GOES_ON}")
            self.assertNotIn("membership epoch", job.said)
            self.assertEqual([name for name in self.checkpoints(run) if ".tmp" in name], [])
        self.assert_trained([job], STEPS, same=(2, backend), ranks=2)

    def test_the_last_checkpoint_is_an_error(self):
        with failing_disk(self.place) as (mounted, failures):
            run = mounted / "run"
            job = self.train(["-n", "2"], "BACKEND=gloo", "PAUSE=30", f"CHECKPOINTS={run}", "CHECKPOINT_EVERY=20")
            self.await_newer(job, run, 0)
            replace(failures, "fsync")
            self.assertEqual(job.wait(), 1, job.said)
            self.assertEqual(self.newest(run), 20)
            self.assertRegex(job.said, rf"checkpoint step-000000040 in {run} was not saved: .*Input/output error")
        self.assert_nothing_left()

    @each_backend
    def test_checkpoints_that_cannot_be_read_are_no_reason_to_begin_anew(self, backend):
        with failing_disk(self.place) as (mounted, failures):
            run = mounted / "run"
            job = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=30", *self.saves(run))
            self.await_newer(job, run, 8)
            os.kill(job.process.pid, signal.SIGKILL)
            job.wait()
            alone.eventually(lambda: not self.before_processes(), "all have ended")
            for call, words in {"read": f"no checkpoint in {run} can be used", "stat": f"no checkpoint in {run} can be used",
                                "readdir": f"cannot read {run}"}.items():
                replace(failures, call)
                time.sleep(1.1)  # what the kernel knows of files it knows for a second
                again = self.train(["-n", "2"], f"BACKEND={backend}", *self.saves(run))
                self.assertEqual(again.wait(), 1, f"{call}: {again.said}")
                self.assertIn(words, again.said)
                self.assertIn("Input/output error", again.said)
                self.assertEqual(again.step(), 0, again.said)

    @each_backend
    def test_a_loss_is_made_good_at_the_end(self, backend):
        # After a change of members, who told of the loss among those lost; and with none.
        for recovers, lost in {"gloo": ((True, 1), (False, 1)), "shm": ((True, 0), (True, None))}[backend]:
            with self.subTest(recovers=recovers, lost=lost), failing_disk(self.folder.new("disk")) as (mounted, failures):
                run = mounted / "run"
                job = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=100", f"CHECKPOINTS={run}", "CHECKPOINT_EVERY=20", "STEPS=58")
                self.await_newer(job, run, 0)
                replace(failures, "fsync")
                job.says(GOES_ON)  # long before the next one is due
                job.reaches(45)    # a commit after that of the checkpoint
                if recovers:
                    replace(failures, "")
                if lost is not None:
                    os.kill(job.members()[lost], signal.SIGKILL)
                self.assertEqual(job.finish(), 0 if recovers else 128 + signal.SIGKILL, job.said)  # of the first failure
                replace(failures, "")
                self.assertEqual(self.newest(run), 56 if recovers else 20)  # of the last commit
                self.assertRegex(job.said, f"checkpoint step-000000040 in {run} was not saved: .*Input/output error; {GOES_ON}")
                if not recovers:
                    self.assertRegex(job.said, rf"checkpoint step-000000056 in {run} was not saved: .*Input/output error")
            self.assert_nothing_left()

    def test_older_ones_that_cannot_be_removed_cost_nothing(self):
        with failing_disk(self.place) as (mounted, failures):
            run = mounted / "run"
            job = self.train(["-n", "2"], "BACKEND=gloo", "PAUSE=200", *self.saves(run, 8), "STEPS=32")
            self.await_newer(job, run, 16)  # of four that there will be three are kept
            replace(failures, "rmdir")
            self.assertEqual(job.finish(), 0, job.said)
            self.assertEqual(self.newest(run), 32)
            self.assertRegex(job.said, rf"checkpoint step-000000032 in {run} is saved, but older ones could not be removed: .*Input/output error")
        self.assert_trained([job], 32, same=(2, "gloo"), ranks=2)
        self.assert_nothing_left()

    def before_processes(self):
        return [found for found in self.before.left() if found.startswith("process") and "failing_disk" not in found]


class Full(Disks):
    @each_backend
    def test_a_full_disk_costs_checkpoints_until_there_is_room(self, backend):
        with small_disk(self.place, 9) as mounted:
            run, other = mounted / "run", mounted / "other"
            job = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=30", "PAD=1", *self.saves(run))
            newest = self.await_newer(job, run, 8)

            def is_noticed():  # what is removed of older checkpoints makes room
                fill(other)
                return GOES_ON in job.said or job.ended()
            alone.eventually(is_noticed, lambda: f"a checkpoint that has no room: {job.said}")
            stood = self.newest(run)
            self.assertGreaterEqual(stood, newest)
            job.says(GOES_ON, 3)
            self.assertEqual(self.newest(run), stood)
            self.assertFalse(job.ended(), job.said)
            other.unlink()
            self.await_newer(job, run, stood)
            self.assertEqual(job.finish(), 0, job.said)
            self.assertEqual(self.newest(run), STEPS)
            self.assertRegex(job.said, rf"checkpoint step-\d+ in {run} was not saved: cannot write {run}/\S+: No space left on device; {GOES_ON}")
            self.assertNotIn("membership epoch", job.said)
        self.assert_trained([job], STEPS, same=(2, backend), ranks=2)


class Wrong(Disks):
    @each_backend
    def test_a_folder_that_cannot_be_made_ends_the_job_early(self, backend):
        run = self.place / "missing" / "run"
        job = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=30", *self.saves(run))
        self.assertEqual(job.wait(), 1, job.said)
        self.assertIn(f"cannot make the folder {run}: No such file or directory", job.said)
        self.assertNotIn(GOES_ON, job.said)
        self.assertLess(job.step(), 20, job.said)  # not at its end


class Torn(Disks):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = alone.draw()

    @each_backend
    def test_by_the_end_of_all_who_write_it(self, backend):
        run = self.place / "run"
        job = self.train(["-n", "2", "--min-ranks", "2", "--max-restarts", "20"], f"BACKEND={backend}", "PAUSE=30", "PAD=24", *self.saves(run, 20),
                         "STEPS=120")
        self.await_newer(job, run, 0)
        torn, newest = [], -1
        while not torn and not job.ended():  # a moment after it began, which may be too late
            alone.eventually(lambda: self.unfinished(run) or job.ended(), "a checkpoint is being written")
            time.sleep(self.random.uniform(0, 0.02))
            killed = job.members().values()
            for pid in killed:
                alone.kill(pid)
            alone.eventually(lambda killed=killed: not any(map(alone.is_alive, killed)), "they have ended")
            torn = self.unfinished(run)
            self.assertGreaterEqual(stood := self.newest(run), newest)
            newest = stood
        self.assertTrue(torn, job.said)
        self.assertEqual(job.finish(), 0, job.said)
        self.assertEqual(job.text("steps").split().count("20"), 1, job.said)
        self.assertEqual(self.newest(run), 120)
        self.assertEqual(self.unfinished(run), [])
        self.assert_trained([job], 120, same=(2, backend), ranks=2)

    @each_backend
    def test_a_file_that_was_cut_is_passed_over_by_name(self, backend):
        run = self.place / "run"
        first = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=30", *self.saves(run))
        self.await_newer(first, run, 12)
        first.process.kill()
        first.wait()
        self.assert_nothing_left()
        newest = self.newest(run)
        cut = run / f"step-{newest:09}" / "model.safetensors"
        os.truncate(cut, cut.stat().st_size - 5)
        again = self.train(["-n", "2"], f"BACKEND={backend}", "PAUSE=0", *self.saves(run))
        self.assertEqual(again.wait(), 0, again.said)
        self.assertIn(f"tandem: the checkpoint step-{newest:09}: ", again.said)
        self.assertIn("model.safetensors", again.said)
        self.assertIn(f"training goes on from that of step {newest - 4} in {run}", again.said)
        self.assertEqual(self.newest(run), STEPS)
        results = again.results()
        self.assertEqual([training.parameters(result) for result in results], [self.expected(STEPS, 2, backend)] * 2)


if __name__ == "__main__":
    alone.enter()
    FAILING_DISK = sys.argv.pop(3)
    load_reader(sys.argv.pop(3))
    if FAILING_DISK == "none":
        print("NOT TESTED: disks that fail, for libfuse3-dev is not installed; script/bootstrap --schedulers installs it", flush=True)
        del Failing
    elif not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("NOT TESTED: disks that fail, for this machine has no /dev/fuse that can be used (modprobe fuse)", flush=True)
        del Failing
    training.main(sys.argv)
