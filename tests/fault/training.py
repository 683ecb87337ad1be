"""Jobs of elastic_program under the real launcher, and what has to hold of them, whatever is done to them."""
import os
import pathlib
import subprocess
import time
import unittest
from collections import defaultdict

import alone

SAMPLES, BATCH = 120, 12  # elastic_program's
CLOSE = 1e-12
BACKENDS = ("gloo", "shm")
SAME_BITS = "BUCKETS=stay"  # what three ranks and more need for them on Gloo, whose order of additions follows from DDP's buckets
TANDEM = PROGRAM = None  # set by main()


class Training:
    """A `tandem run` with a folder, and temporary files, of its own."""

    def __init__(self, folder, flags, *settings, environment=None):
        self.folder = folder
        (folder / "tmp").mkdir()
        self.words = [str(word) for word in (TANDEM, "run", *flags, "--", PROGRAM, folder, *settings)]
        with open(folder / "said", "wb") as said:
            self.process = subprocess.Popen(
                self.words, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env=os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(folder / "tmp")} | (environment or {}))

    @property
    def said(self):
        """Without LibTorch's complaint that names cannot be looked up here, where there is no network."""
        lines = (self.folder / "said").read_text(errors="replace").splitlines(keepends=True)
        return "".join(line for line in lines if "hostname of the client socket" not in line)

    def text(self, name):
        try:
            return (self.folder / name).read_text()
        except OSError:
            return ""

    def ended(self):
        return self.process.poll() is not None

    def wait(self, patience=alone.PATIENCE):
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise alone.FaultError(f"after {patience} s it has not ended: {self.words}\n{self.said}") from None

    def finish(self):
        """wait() without pauses in its steps."""
        (self.folder / "hurry").touch()
        return self.wait()

    def says(self, text, times=1):
        alone.eventually(lambda: self.said.count(text) >= times or self.ended(), lambda: f"{text!r} in {self.said}")

    def step(self):
        """The last that the first rank completed, where that is a worker of this launcher."""
        return max((int(step) for step in self.text("steps").split()), default=0)

    def trains(self):
        return bool(self.text("trains"))

    def takes_part(self):
        alone.eventually(lambda: self.trains() or self.ended(), lambda: f"it trains: {self.said}")

    def reaches(self, step):
        alone.eventually(lambda: self.step() >= step or self.ended(), lambda: f"step {step}: {self.said}")

    def members(self):
        """Numbers and processes of the workers that live."""
        found = {}
        for file in self.folder.glob("pid.*"):
            if (text := self.text(file.name)).endswith("\n") and alone.is_alive(int(text)):
                found[int(file.suffix[1:])] = int(text)
        return found

    def agent(self):
        """The process that supervises the workers, which the first one started."""
        [agent] = alone.children_of(self.process.pid)
        return agent

    def results(self):
        return [file.read_text() for file in sorted(self.folder.glob("result.*"))]


def parameters(result):
    return [line for line in result.splitlines() if "0x" in line]


def history(trainings):
    """Of each step the samples that count: those of the newest membership epoch that came to it."""
    steps = defaultdict(dict)
    for training in trainings:
        for file in training.folder.glob("samples.*"):
            for line in file.read_text().splitlines():
                epoch, step, *samples = map(int, line.split())
                steps[step].setdefault(epoch, []).extend(samples)
    return {step: epochs[max(epochs)] for step, epochs in steps.items()}


class FaultTest(unittest.TestCase):
    """Each test's jobs, and the promises that hold after all of them."""
    undisturbed = {}
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = alone.Folder()

    @classmethod
    def tearDownClass(cls):
        cls.folder.remove()

    def setUp(self):
        self.before = alone.Before()
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            alone.end(job.process)

    def train(self, flags, *settings, environment=None):
        job = Training(self.folder.new("job"), flags, *settings, environment=environment)
        self.jobs.append(job)
        return job

    def expected(self, steps, world=1, backend="gloo"):
        """The parameters that nothing disturbed, with so many ranks; of two and more each backend adds in an order of its own."""
        key = steps, world, backend
        if key not in self.undisturbed:
            job = Training(self.folder.new("undisturbed"), ["-n", world], f"STEPS={steps}", "PAUSE=0", f"BACKEND={backend}", SAME_BITS)
            self.assertEqual(job.wait(3 * alone.PATIENCE), 0, job.said)  # it has nothing to recover from, only a busy machine
            self.undisturbed[key] = parameters(job.results()[0])
            self.assertTrue(self.undisturbed[key])
        return self.undisturbed[key]

    def assert_trained(self, trainings, steps, same=None, ranks=1):
        """That what came out is what an undisturbed run gives, on each of at least `ranks` ranks: to the bit where all steps that count
        were made by as many ranks, on a backend (`same` gives both); and that each step's global batch was trained on once."""
        results = [result for training in trainings for result in training.results()]
        self.assertGreaterEqual(len(results), ranks)
        said = "\n".join(training.said for training in trainings)
        for result in results:
            got, wanted = parameters(result), self.expected(steps, *(same or ()))
            if same:
                self.assertTrue(got == wanted, f"other bits than undisturbed: {said}")
            self.assertEqual(len(got), len(wanted))
            for one, other in zip(got, wanted):
                self.assertAlmostEqual(float.fromhex(one), float.fromhex(other), delta=CLOSE, msg=said)
        self.assert_each_sample_once(trainings, steps)

    def assert_each_sample_once(self, trainings, steps):
        steps_of = history(trainings)
        self.assertEqual(sorted(steps_of), list(range(1, steps + 1)))
        batches = SAMPLES // BATCH
        for step, samples in steps_of.items():
            self.assertEqual(len(set(samples)), BATCH, f"step {step}: {sorted(samples)}")
            self.assertEqual(len(samples), BATCH, f"step {step}: {sorted(samples)}")
        for begin in range(1, steps - batches + 2, batches):
            epoch = [sample for step in range(begin, begin + batches) for sample in steps_of[step]]
            self.assertEqual(sorted(epoch), list(range(SAMPLES)), f"the epoch of steps {begin}…")

    def assert_nothing_left(self):
        """No process, socket, shared memory or temporary file of any of the test's jobs."""
        for job in self.jobs:
            self.assertTrue(job.ended())
        alone.eventually(lambda: not self.before.left(), lambda: f"nothing is left of the job: {self.before.left()}", 20)
        for job in self.jobs:
            alone.eventually(lambda job=job: not list((job.folder / "tmp").iterdir()),
                             lambda job=job: f"no temporary files: {list((job.folder / 'tmp').rglob('*'))}", 20)


def each_backend(test):
    """Runs a test of (self, backend) on gloo and shm."""
    def run(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                began = time.monotonic()
                self.setUp()
                try:
                    test(self, backend)
                    self.assert_nothing_left()
                finally:
                    self.tearDown()
                print(f"{backend}: {time.monotonic() - began:.1f} s", flush=True)
    run.__name__ = test.__name__
    return run


def main(arguments):
    """TANDEM PROGRAM [the names of tests]"""
    global TANDEM, PROGRAM
    TANDEM, PROGRAM = (pathlib.Path(path).resolve() for path in arguments[1:3])
    unittest.main(module="__main__", argv=[arguments[0], *arguments[3:]], verbosity=2)
